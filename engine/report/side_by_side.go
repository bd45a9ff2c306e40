package report

import (
	"cmp"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// What bounds the table of all targets.
const (
	mostSideRows = 30
	mostSides    = 8
)

// sideBySide is a line for each scenario with the metric by which its targets are compared: the best one's value, and of
// each other its ratio to the best.
func sideBySide(b *builder) ([]Section, error) {
	groups := b.comparable()
	by := append([]string{"scenario"}, append(slices.Clone(b.axes), "stage")...)
	slices.SortStableFunc(groups, func(x, y group) int { // a stage beside its repeat
		switch {
		case b.before(x.units[0], y.units[0], by):
			return -1
		case b.before(y.units[0], x.units[0], by):
			return 1
		}
		return 0
	})
	var targets []string
	for _, g := range groups {
		for _, u := range g.units {
			if t := u.at("target"); !slices.Contains(targets, t) {
				targets = append(targets, t)
			}
		}
	}
	slices.SortStableFunc(targets, func(x, y string) int { return cmp.Compare(b.rank["target"][x], b.rank["target"][y]) })
	if len(targets) < 2 {
		return nil, nil
	}
	undrawn := targets[min(len(targets), mostSides):]
	targets = targets[:min(len(targets), mostSides)]
	t := Table{Columns: []Column{{Title: "scenario"}, {Title: "metric"}}}
	for _, name := range targets {
		t.Columns = append(t.Columns, Column{Title: oneLine(name), Right: true})
	}
	more := 0
	for _, g := range groups {
		switch line := b.sides(g, targets); {
		case line == nil:
			continue
		case len(t.Rows) == mostSideRows:
			more++
		default:
			t.Rows = append(t.Rows, line)
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	s := Section{Title: "Side by side", Blocks: []Block{t, Paragraph{text("The best one's value, and each other's ratio to it. ~ is within the noise, ? is not to be trusted or its noise is not known.")}}}
	if more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(count(more, "line") + " more are not shown; the tables have them.")})
	}
	if len(undrawn) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Not shown: " + oneLine(and(undrawn)) + ".")})
	}
	return []Section{s}, nil
}

// sides is one line; nil if fewer than two targets have a value.
func (b *builder) sides(g group, targets []string) []Text {
	metrics := b.headline(g.units)
	if len(metrics) == 0 {
		return nil
	}
	m := compare.ParseName(metrics[0])
	c, ok := b.contest(g.units, metrics[0])
	if !ok {
		return nil
	}
	line := row(g.name, text(mono(b.header(m))))
	for _, target := range targets {
		i := slices.IndexFunc(g.units, func(u unit) bool { return u.at("target") == target })
		if i < 0 {
			line = append(line, text("-"))
			continue
		}
		r := b.read(g.units[i], m)
		switch {
		case r.Why != "":
			line = append(line, text("n/a", b.note(r.Why)))
		case target == c.first:
			line = append(line, text(strong(number(r.Value, b.desc(m.Metric).Class))))
		default:
			x := b.compare(g.units, record.Ratio{Of: target, To: record.Against{Target: c.first}}, m)
			t := text(x.value() + sureness[x.Outcome()])
			if x.Ratio.NA != "" {
				t = append(t, b.note(x.Ratio.NA))
			}
			line = append(line, t)
		}
	}
	return line
}

// sureness is what stands behind a ratio that is not simply beyond the noise.
var sureness = map[compare.Outcome]string{compare.WithinNoise: " ~", compare.Unknown: " ?", compare.Untrusted: " ?"}
