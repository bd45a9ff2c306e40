package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// chartSection draws a metric or series over the time of the runs, a line for each cell: of several runs the median in
// each second. Bars show a metric of the whole run: a table, with a picture of it.
func chartSection(b *builder, s record.Section) (Section, error) {
	if s.As == "bars" {
		s.Metrics = []string{s.Title}
		out, err := tableSection(b, s)
		if err != nil {
			return out, err
		}
		units, err := b.units(s.Cells)
		if bars := b.ranges(units, compare.ParseName(s.Title)); err == nil && len(bars) > 0 {
			groups := []RangeGroup{{Label: b.label(compare.ParseName(s.Title)), Bars: bars}}
			share(groups, []string{""})
			out.Blocks = append(out.Blocks, Ranges{Title: s.Title, Groups: groups})
		}
		return out, err
	}
	out := Section{Title: s.Title + " over time"}
	units, err := b.units(s.Cells)
	if err != nil {
		return out, fmt.Errorf("chart %q: %w", s.Title, err)
	}
	groups := b.sameTimeline(units)
	for _, g := range groups {
		chart, err := b.chart(g, []string{s.Title})
		if err != nil {
			return out, fmt.Errorf("chart %q: %w", s.Title, err)
		}
		if len(chart.Panels) == 0 {
			continue
		}
		if len(groups) > 1 {
			chart.Title = oneLine(g[0].at("scenario"))
		}
		out.Blocks = append(out.Blocks, chart.upTo(b.phasesEnd(g)))
	}
	if len(out.Blocks) == 0 {
		out.Blocks = append(out.Blocks, Paragraph{text("No sample of ", mono(s.Title), " was recorded.")})
	}
	return out, nil
}

// sameTimeline puts units of a scenario together: phases and marks are those of one scenario. Units without a run are with
// none.
func (b *builder) sameTimeline(units []unit) (out [][]unit) {
	for _, g := range b.groups(units, []string{"scenario"}) {
		if b.firstRun(g) != nil {
			out = append(out, g)
		}
	}
	return out
}

// chart has a panel for each of the names that some unit has samples of.
func (b *builder) chart(units []unit, names []string) (Chart, error) {
	seen := make([]watched, len(units))
	for i, u := range units {
		w, err := b.watch(u, names, 0, false)
		if err != nil {
			return Chart{}, err
		}
		seen[i] = w
	}
	return b.chartOf(units, seen, names)
}

// chartOf is the chart of what was read of units.
func (b *builder) chartOf(units []unit, seen []watched, names []string) (Chart, error) {
	c := Chart{Seconds: b.longest(units), Phases: b.stretches(units)}
	labels, keys := b.lineNames(units)
	for _, name := range names {
		p := Panel{Title: name, Unit: b.unitOf(name)}
		some := false
		for i := range units {
			line := Line{Name: labels[i], Key: keys[i], Values: make([]*float64, c.Seconds)}
			for sec, v := range seen[i].series[name] {
				if sec < c.Seconds {
					if line.Values[sec] = median(v); line.Values[sec] != nil {
						some = true
					}
				}
			}
			p.Lines = append(p.Lines, line)
		}
		if some {
			c.Panels = append(c.Panels, p)
		}
	}
	err := b.mark(&c, units)
	return c, err
}

// unitOf is the unit of a metric or series; a series whose name says it needs none.
func (b *builder) unitOf(name string) string { return b.desc(name).Unit }

// lineNames are the names of lines that stand for units, and their keys: those of the targets, if each is of another one.
func (b *builder) lineNames(units []unit) (names []string, keys []int) {
	coords := []string{"target"}
	if v := varying(units, b.coordinates()); len(v) > 0 {
		coords = v
	}
	targets := map[string]bool{}
	for i, u := range units {
		names = append(names, strings.Join(values(u, coords), " / "))
		keys = append(keys, i)
		targets[u.at("target")] = true
	}
	if len(targets) == len(units) {
		for i, u := range units {
			keys[i] = b.rank["target"][u.at("target")]
		}
	}
	return names, keys
}

// median of v, or nil of nothing.
func median(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	m := stats.Median(v)
	return &m
}

// longest is how many seconds the longest run has, also one that did not end.
func (b *builder) longest(units []unit) int {
	end := 0.0
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil {
				end = max(end, r.Seconds)
				for _, p := range r.Phases {
					end = max(end, p.End)
				}
			}
		}
	}
	const most = 7 * 24 * 3600 // a week: what a wrong record may cost
	return int(min(math.Ceil(end), most))
}

// stretches are the phases of the first run that there is.
func (b *builder) stretches(units []unit) (out []Stretch) {
	r := b.firstRun(units)
	if r == nil {
		return nil
	}
	for i, p := range r.Phases {
		if p.End > p.Start || i == 0 {
			out = append(out, Stretch{p.Name, p.Kind, p.Start, p.End})
		}
	}
	return out
}

// firstRun is the first run of the units that has phases; nil if none has.
func (b *builder) firstRun(units []unit) *record.Run {
	for _, u := range units {
		for _, id := range u.cell.Runs {
			if r := b.runs[id]; r != nil && len(r.Phases) > 0 {
				return r
			}
		}
	}
	return nil
}

// phaseAt names the phase in which a second begins; the next one's name if none is on.
func (c Chart) phaseAt(t float64) string {
	i := slices.IndexFunc(c.Phases, func(p Stretch) bool { return t < p.To && (t >= p.From || p.From < t+1) })
	if i < 0 {
		return ""
	}
	return c.Phases[i].Name
}
