package verdict

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Coord addresses a cell, or, with empty parts, a group of cells. It is comparable.
type Coord struct {
	Stage, Scenario, Target string
	Matrix                  string // as MatrixText writes it
}

// String is stage/scenario/target/matrix, without what is empty at its end.
func (c Coord) String() string {
	return strings.TrimRight(c.Stage+"/"+c.Scenario+"/"+c.Target+"/"+c.Matrix, "/")
}

// MatrixText writes the axes of a cell in one form: sorted, "a=1,b=x"; a value with a comma, a quote or = is quoted.
func MatrixText(axes map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(axes)) {
		v := axes[k]
		if strings.ContainsAny(v, `,="`) {
			v = strconv.Quote(v)
		}
		parts = append(parts, k+"="+v)
	}
	return strings.Join(parts, ",")
}

// Axes reads what MatrixText wrote.
func (c Coord) Axes() map[string]string {
	out := map[string]string{}
	for rest := c.Matrix; rest != ""; {
		k, v, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		if q, err := strconv.QuotedPrefix(v); err == nil && strings.HasPrefix(v, `"`) {
			out[k], _ = strconv.Unquote(q)
			rest = strings.TrimPrefix(v[len(q):], ",")
			continue
		}
		out[k], rest, _ = strings.Cut(v, ",")
	}
	return out
}

// place is an address under construction: a stage that was not named is implied where exactly one runs the scenario.
type place struct {
	Coord
	staged bool // stage(...) was written
	named  bool // target("x") was written
	looped bool // target(t) was written, t going over targets
}

func (p place) stage(s string) place { p.Stage, p.staged = s, true; return p }

// scenario keeps the axes that the new scenario has too.
func (p place) scenario(ix *index, s string) place {
	p.Scenario = s
	if p.Matrix != "" {
		set := p.Axes()
		maps.DeleteFunc(set, func(k, v string) bool { return !slices.Contains(ix.axisValues(s, k), v) })
		p.Matrix = MatrixText(set)
	}
	return p
}
func (p place) target(t string, looped bool) place {
	p.Target, p.named, p.looped = t, !looped, looped
	return p
}
func (p place) axis(name, value string) place {
	set := p.Axes()
	set[name] = value
	p.Matrix = MatrixText(set)
	return p
}

// resolve implies the stage.
func (p place) resolve(ix *index) Coord {
	if stages := ix.stagesOf[p.Scenario]; !p.staged && len(stages) == 1 {
		p.Stage = stages[0]
	}
	return p.Coord
}
