package report

import (
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// planned are the sections that the plan asks for; without any, the verdicts, a table for each scenario, and where each target
// loses. Verdicts are never left out.
func planned(b *builder) ([]Section, error) {
	asked := b.sections()
	var out []Section
	for _, s := range asked {
		var section Section
		var err error
		switch {
		case s.Kind == "verdicts":
			section, err = verdictSection(b)
		case s.Kind == "threads":
			section, err = threadSection(b, s)
		case s.Kind == "chart":
			section, err = chartSection(b, s)
		case s.Kind == "table" && s.Losses != nil:
			section, err = lossSection(b, s)
		case s.Kind == "table":
			section, err = tableSection(b, s)
		default:
			err = fmt.Errorf("a section of unknown kind %q", s.Kind)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, section)
	}
	return out, nil
}

// sections are the plan's, or the default ones.
func (b *builder) sections() []record.Section {
	s := b.res.Sections
	if len(s) == 0 {
		s = b.defaults()
	}
	if !slices.ContainsFunc(s, func(s record.Section) bool { return s.Kind == "verdicts" }) {
		s = append([]record.Section{{Kind: "verdicts"}}, s...)
	}
	return s
}

// defaults are a table for each scenario, with the ratio of each target to the first, and one of its phases where it has
// several; then, of several targets, where each loses to the best.
func (b *builder) defaults() (out []record.Section) {
	byScenario := map[string][]int{}
	var names []string
	for i, c := range b.res.Cells {
		if byScenario[c.Coord.Scenario] == nil {
			names = append(names, c.Coord.Scenario)
		}
		byScenario[c.Coord.Scenario] = append(byScenario[c.Coord.Scenario], i)
	}
	for _, name := range names {
		s := record.Section{Kind: "table", Title: name, Cells: byScenario[name]}
		var targets []string
		for _, i := range s.Cells {
			if t := b.res.Cells[i].Coord.Target; !slices.Contains(targets, t) {
				targets = append(targets, t)
			}
		}
		units, _ := b.units(s.Cells)
		for _, t := range targets[min(1, len(targets)):] {
			s.Ratios = append(s.Ratios, record.Ratio{Of: t, To: record.Against{Target: targets[0]}, Metrics: b.headline(units)})
		}
		out = append(out, s)
		phases := record.Section{Kind: "table", Title: name + " by phase", Cells: s.Cells}
		for _, window := range b.windows(units) {
			for _, m := range []string{"req_per_s", "p99_ms", "failed"} {
				if b.has(units, compare.Name{Window: window, Metric: m}) {
					phases.Metrics = append(phases.Metrics, window+"/"+m)
				}
			}
		}
		if len(phases.Metrics) > 0 {
			out = append(out, phases)
		}
	}
	losses := record.Section{Kind: "table", Title: "Where each target loses", Losses: &record.Against{}}
	for i, c := range b.res.Cells {
		if losses.Cells = append(losses.Cells, i); c.Status.HasResults() && !slices.Contains(losses.Losses.Best, c.Coord.Target) {
			losses.Losses.Best = append(losses.Losses.Best, c.Coord.Target)
		}
	}
	if len(losses.Losses.Best) > 1 {
		out = append(out, losses)
	}
	return out
}

// windows are those of recorded phases, where there are several.
func (b *builder) windows(units []unit) (out []string) {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				for _, p := range r.Phases {
					if w := "phase/" + p.Name; p.Recorded && !slices.Contains(out, w) {
						out = append(out, w)
					}
				}
			}
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

var usualMetrics = []string{
	"req_per_s", "p50_ms", "p99_ms", "p99_9_ms", "worst_second_p99_ms", "requests", "failed", "sut_cpu_cores",
	"sut_cpu_us_per_req", "sut_rss_peak_mib", "load_cpu_cores", "lag_p99_ms",
}

// usual are the metrics that a reader asks for first, of those that the units have.
func (b *builder) usual(units []unit) (out []compare.Name) {
	for _, name := range usualMetrics {
		if m := compare.ParseName(name); b.has(units, m) {
			out = append(out, m)
		}
	}
	return out
}

func (b *builder) has(units []unit, m compare.Name) bool {
	return slices.ContainsFunc(units, func(u unit) bool { _, ok := u.cell.Metrics[m.Window].Get(m.Metric); return ok })
}

// headline is the metric by which targets are compared: of a closed loop the rate, of an open loop, whose rate is given,
// the latency.
func (b *builder) headline(units []unit) []string {
	names := []string{"req_per_s", "p99_ms"}
	if b.openLoop(units) {
		names = []string{"p99_ms", "p50_ms"}
	}
	return slices.DeleteFunc(names, func(n string) bool {
		return !b.has(units, compare.ParseName(n)) || b.desc(n).Better == series.Neither
	})
}

func (b *builder) openLoop(units []unit) bool {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				for _, l := range r.Loads {
					if l.Headline && len(l.Spec.Rate) > 0 {
						return true
					}
				}
			}
		}
	}
	return false
}
