package published

import (
	"math"
	"strconv"

	"github.com/planrun/planrun/internal/plural"
)

// fits reports whether the statistics are what the runs give, as far as the printed digits tell, and says which are not.
// Every statistic grows with each run, so it lies between that of their lowest and that of their highest values.
func (g *group) fits(runs []Printed) bool {
	var low, high []float64
	for _, r := range runs {
		low, high = append(low, r.Low()), append(high, r.High())
	}
	ok := true
	for _, s := range statistics {
		f := g.by[s]
		if f == nil {
			continue
		}
		if from, to := of[s](low), of[s](high); !meet(from, to, f.Value) {
			ok = false
			g.contradicts(f, "the runs give %s", between(from, to))
		}
	}
	return ok
}

// ordered reports whether statistics whose runs are not known can be those of the same runs, and says which cannot.
func (g *group) ordered() bool {
	ok := true
	for _, pair := range [][2]string{{"min", "median"}, {"min", "mean"}, {"median", "max"}, {"mean", "max"}, {"min", "max"}} {
		a, b := g.by[pair[0]], g.by[pair[1]]
		// Of two numbers the lesser is never printed as the greater one: that they may meet where both are rounded is no way out.
		if a == nil || b == nil || a.Value.Value <= b.Value.Value || a.Value.Low() < b.Value.High()-slack(b.Value.Value) {
			continue
		}
		if pair == [2]string{"min", "max"} && !ok {
			continue // said already
		}
		ok = false
		g.contradicts(a, "the %s is %s", pair[1], b.Value.Text)
	}
	sum := g.by["sum"]
	if sum == nil || !ok {
		return ok
	}
	n := float64(g.n)
	for _, bound := range []struct {
		name     string
		from, to func(Printed) float64
	}{
		{"mean", func(p Printed) float64 { return n * p.Low() }, func(p Printed) float64 { return n * p.High() }},
		{"min", func(p Printed) float64 { return n * p.Low() }, func(Printed) float64 { return math.Inf(1) }},
		{"max", func(Printed) float64 { return math.Inf(-1) }, func(p Printed) float64 { return n * p.High() }},
	} {
		f := g.by[bound.name]
		if f == nil {
			continue
		}
		if from, to := bound.from(f.Value), bound.to(f.Value); !meet(from, to, sum.Value) {
			ok = false
			g.contradicts(sum, "of %s the %s is %s, so the sum is %s", plural.Of(g.n, "run"), bound.name, f.Value.Text, between(from, to))
		}
	}
	return ok
}

func (g *group) contradicts(f *Figure, why string, args ...any) {
	g.say(f, valueColumn, "see which of them is what was published", "the %s of %s of %s on %s cannot be %s: "+why,
		append([]any{f.Statistic, g.desc.Name, g.cell.Scenario, g.cell.Target, f.Value.Text}, args...)...)
}

// meet reports whether a printed number can lie between two others.
func meet(from, to float64, p Printed) bool {
	return p.High() >= from-slack(from) && p.Low() <= to+slack(to)
}

// slack is what the arithmetic of floating point may lose.
func slack(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return 1e-9 * math.Abs(v)
}

// between says a range in words.
func between(from, to float64) string {
	switch {
	case math.IsInf(to, 1):
		return "at least " + digits(from)
	case math.IsInf(from, -1):
		return "at most " + digits(to)
	case digits(from) == digits(to):
		return digits(from)
	}
	return digits(from) + " to " + digits(to)
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
