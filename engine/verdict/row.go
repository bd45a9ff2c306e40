package verdict

import (
	"slices"
	"strconv"
	"strings"
)

// NewRows makes a compiler of conditions over the rows of a comparison: each is evaluated AtRow, once for every row. They may
// read the given names (In is not needed) and the coordinates of the row's cell, Values.At; cells are those of all rows. A name
// that has no value in a row is given as a *Reason; it satisfies no comparison.
//
// Which rows a condition is about is said in the condition itself (metric != "p99_ms" || ...), so what && and || absorbed does
// not make a true one doubtful: `true || missing` is true, whatever the missing value was. Row decides so.
func NewRows(names []Name, cells []Coord) (*Compiler, error) {
	s := &Schema{Scenarios: map[string]*Scenario{}, Names: names}
	for _, c := range cells {
		s.addRow(c)
	}
	ix, err := newIndex(s)
	if err != nil {
		return nil, err
	}
	for n, v := range ix.names {
		given := slices.ContainsFunc(names, func(x Name) bool { return x.Name == n })
		if !given && n != "stage" && n != "scenario" && n != "target" && !strings.HasPrefix(n, "matrix.") {
			delete(ix.names, n)
			continue
		}
		v.In = AtRow
		ix.names[n] = v
	}
	return compilerOf(ix)
}

// addRow makes the coordinates of a cell known.
func (s *Schema) addRow(c Coord) {
	if !slices.ContainsFunc(s.Stages, func(x Stage) bool { return x.Name == c.Stage }) {
		s.Stages = append(s.Stages, Stage{Name: c.Stage})
	}
	if !slices.ContainsFunc(s.Targets, func(x Target) bool { return x.Name == c.Target }) {
		s.Targets = append(s.Targets, Target{Name: c.Target})
	}
	sc := s.Scenarios[c.Scenario]
	if sc == nil {
		sc = &Scenario{}
		s.Scenarios[c.Scenario] = sc
	}
	for name, text := range c.Axes() {
		i := slices.IndexFunc(sc.Axes, func(a Axis) bool { return a.Name == name })
		if i < 0 {
			i = len(sc.Axes)
			sc.Axes = append(sc.Axes, Axis{Name: name})
		}
		if v := axisValue(text); !slices.Contains(sc.Axes[i].Values, v) {
			sc.Axes[i].Values = append(sc.Axes[i].Values, v)
		}
	}
}

// axisValue is a number where the text is one as valueText writes it.
func axisValue(text string) any {
	if v, err := strconv.ParseFloat(text, 64); err == nil && valueText(v) == text {
		return v
	}
	return text
}

// Row says whether a condition over rows holds for what a result is of; else, where it is not false, why that is not known.
func (r Result) Row() (holds bool, why *Reason) {
	return r.Value == true, r.Err
}
