package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/series"
)

// stages says in which order each stage ran, and what its expressions gave when it began.
func stages(b *builder) ([]Section, error) {
	if len(b.res.Stages) == 0 {
		return nil, nil
	}
	order := Table{Columns: []Column{{Title: "stage"}, {Title: "round", Right: true}, {Title: "begun"}, {Title: "order"}}}
	params := Table{Columns: []Column{{Title: "stage"}, {Title: "round", Right: true}, {Title: "param"}, {Title: "value"}}}
	for _, s := range b.res.Stages {
		round := strconv.Itoa(max(1, s.Round))
		how := stageOrder(s)
		if len(s.Without) > 0 {
			how += ", without the probes: " + strings.Join(s.Without, ", ")
		}
		began := "n/a"
		if !s.Start.IsZero() {
			began = s.Start.UTC().Format("15:04:05 UTC")
		}
		order.Rows = append(order.Rows, row(s.Name, round, began, how))
		for _, name := range sorted(s.Params) {
			value := text(plainValue(s.Params[name]))
			if why := s.Tainted[name]; why != "" {
				value = append(value, b.note("computed from a value that is not to be trusted: "+why))
			}
			params.Rows = append(params.Rows, row(s.Name, round, text(mono(name)), value))
		}
	}
	out := Section{Title: "Stages", Blocks: []Block{order}}
	if len(params.Rows) > 0 {
		out.Blocks = append(out.Blocks, Heading{"What was determined when they began"}, params)
	}
	return []Section{out}, nil
}

// guessed says in the findings which stages ran with values that rest on numbers that are not to be trusted.
func (b *builder) guessed() (items []Text) {
	for _, s := range b.res.Stages {
		for _, name := range sorted(s.Tainted) {
			items = append(items, text(fmt.Sprintf("Stage %s ran with %s = %s, which was computed from a value that is not to be trusted: %s.",
				oneLine(s.Name), oneLine(name), oneLine(plainValue(s.Params[name])), oneLine(s.Tainted[name]))))
		}
	}
	return items
}

func plainValue(v any) string {
	switch v := v.(type) {
	case float64:
		return number(v, series.Count)
	case nil:
		return "n/a"
	}
	return fmt.Sprint(v)
}
