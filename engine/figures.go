package engine

import (
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

// published describes what was published of a scenario: metrics that planrun knows mean what planrun means by them, the
// others are as the plan declares them (without `of`). Unknown names are left out; checkFigures reports them.
func (p *Program) published(sc dsl.Part[dsl.Scenario]) (out []series.Desc) {
	for _, name := range sc.Val.Figures {
		if d, ok := p.figure(name); ok {
			out = append(out, d)
		}
	}
	return out
}

func (p *Program) figure(name string) (series.Desc, bool) {
	m := p.Plan.Metrics.Get(name)
	if m == nil {
		return measure.Known{Roles: publishedRoles}.Describe(name)
	}
	if m.Val.Of.IsSet() {
		return series.Desc{}, false
	}
	d := series.Desc{Name: name, Unit: m.Val.Unit, Better: series.Better(m.Val.Better), Across: series.Across(m.Val.Across), Class: series.Count, Doc: m.Val.About}
	if slices.Contains(timingUnits, d.Unit) {
		d.Class = series.Timing
	}
	return d, true
}

// publishedRoles are those whose figures need no declaration.
var publishedRoles = []string{"sut", "load", "backends", "control"}

// timingUnits are those of latencies, rates and CPU figures.
var timingUnits = []string{"ms", "us", "s", "req/s", "cores"}

// checkFigures reports figures that neither planrun nor the plan knows, and metrics that no scenario publishes.
func (c *compilation) checkFigures() {
	if !c.Plan.IsPublished() {
		return
	}
	var known []string
	for _, d := range measure.Produced(measure.Known{Loads: true, Roles: publishedRoles}) {
		known = append(known, d.Name)
	}
	for _, m := range c.Plan.Metrics {
		if !m.Val.Of.IsSet() {
			known = append(known, m.Name)
		}
	}
	used := map[string]bool{}
	for i := range c.Plan.Scenarios {
		sc := &c.Plan.Scenarios[i]
		seen := map[string]bool{}
		for _, name := range sc.Val.Figures {
			used[name] = true
			m := c.Plan.Metrics.Get(name)
			switch _, ok := c.figure(name); {
			case seen[name]:
				c.list.Addf(sc.PosOf("figures"), "figures: %s stands twice", name).Hint = "leave one of them out"
			case m != nil && m.Val.Of.IsSet():
				c.list.Addf(sc.PosOf("figures"), "figures: %s is computed by its of, not published", name).Hint = "leave it out here, or leave its of out"
			case !ok:
				c.list.Addf(sc.PosOf("figures"), "figures: planrun knows no metric %q", name).Hint = didYouMean(name, known) + " (what planrun does not know is declared under metrics, with its unit and which direction is better)"
			}
			seen[name] = true
		}
	}
	for i := range c.Plan.Metrics {
		m := &c.Plan.Metrics[i]
		if !m.Val.Of.IsSet() && !used[m.Name] {
			c.list.Addf(m.Pos(), "no scenario has %s among its figures", m.Name).Hint = "name it there, or give it an of"
		}
	}
}

// publishedMetrics are what the runs of a cell of published figures have.
func (c *compilation) publishedMetrics(cell *Cell, kinds map[string]*produced) *produced {
	key := "published " + cell.Coord.Scenario
	if kinds[key] == nil {
		kinds[key] = &produced{run: metricsOf(c.published(cell.Scenario)), loads: map[string][]verdict.Metric{}, replicas: map[string][]verdict.Metric{}}
	}
	return kinds[key]
}
