package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// errorClasses are in the order in which they are shown.
var errorClasses = []string{load.Connect, load.TLS, load.Reset, load.Timeout, load.Protocol, load.Mismatch, load.Dropped}

func failedOf(c load.Counts) (n int64) {
	for _, k := range c.Non2xx {
		n += k
	}
	for _, k := range c.Errors {
		n += k
	}
	return n
}

func add(sum *load.Counts, c load.Counts) {
	if sum.Non2xx == nil {
		sum.Non2xx, sum.Errors = map[int]int64{}, map[string]int64{}
	}
	sum.Due += c.Due
	sum.OK += c.OK
	sum.Generator += c.Generator
	for k, v := range c.Non2xx {
		sum.Non2xx[k] += v
	}
	for k, v := range c.Errors {
		sum.Errors[k] += v
	}
}

// classes says what failed: "12 answered 502, 3 reset".
func classes(c load.Counts) string {
	var parts []string
	for _, code := range sorted(c.Non2xx) {
		if n := c.Non2xx[code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s answered %d", grouped(float64(n)), code))
		}
	}
	names := slices.Clone(errorClasses)
	for _, k := range sorted(c.Errors) {
		if !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	for _, k := range names {
		if n := c.Errors[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", grouped(float64(n)), k))
		}
	}
	return strings.Join(parts, ", ")
}

// recorded is true for phases whose outcomes count: all but install and warm-up. A phase that the run does not list is.
func recorded(r *record.Run, phase string) bool {
	for _, p := range r.Phases {
		if p.Name == phase {
			return p.Recorded
		}
	}
	return true
}

// failed says in the findings how many requests failed, and where most.
func (b *builder) failed() (items []Text) {
	type place struct {
		coord  record.Coord
		counts load.Counts
	}
	var all load.Counts
	var places []place
	watched := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		p := place{coord: c.Coord}
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil || len(r.Loads) == 0 {
				continue
			}
			watched++
			for _, l := range r.Loads {
				for phase, counts := range l.Totals {
					if recorded(r, phase) {
						add(&p.counts, counts)
					}
				}
			}
		}
		add(&all, p.counts)
		if failedOf(p.counts) > 0 {
			places = append(places, p)
		}
	}
	if watched == 0 {
		return []Text{text("No request was counted: there was no load, or nothing of it was recorded.")}
	}
	if all.Generator > 0 {
		items = append(items, text(strong(count(int(all.Generator), "request")+" could not be sent by the load generator itself"), " (descriptors, ports, memory or CPU); no target is blamed for them."))
	}
	if len(places) == 0 {
		return append(items, text(fmt.Sprintf("No request failed, of %s in %s.", grouped(float64(all.Due)), count(watched, "run"))))
	}
	const most = 5
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(failedOf(y.counts), failedOf(x.counts)) })
	var parts []string
	for _, p := range places[:min(most, len(places))] {
		parts = append(parts, fmt.Sprintf("%s: %s of %s (%s)", b.name(p.coord), grouped(float64(failedOf(p.counts))), grouped(float64(p.counts.Due)), classes(p.counts)))
	}
	end := "."
	if len(places) > most {
		end = fmt.Sprintf("; and %d more cells.", len(places)-most)
	}
	share := "-"
	if all.Due > 0 {
		share = percent(float64(failedOf(all)) / float64(all.Due))
	}
	return append(items, text(strong(count(int(failedOf(all)), "request")+" failed"), fmt.Sprintf(" of %s (%s). ", grouped(float64(all.Due)), share), strings.Join(parts, "; ")+end))
}

// failures are by run, load and phase, by status code and class.
func failures(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "load"}, {Title: "phase"}, {Title: "requests", Right: true}, {Title: "failed", Right: true}, {Title: "by code and class"}, {Title: "not sent by the generator", Right: true}}}
	var examples []Text
	seen := map[string]bool{}
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, l := range r.Loads {
				for _, phase := range phasesOf(r, l) {
					n := l.Totals[phase]
					if failedOf(n) == 0 && n.Generator == 0 {
						continue
					}
					name := phase
					if !recorded(r, phase) {
						name += " (does not count)"
					}
					t.Rows = append(t.Rows, row(b.runName(r), l.Name, name, grouped(float64(n.Due)), grouped(float64(failedOf(n))), dash(classes(n)), grouped(float64(n.Generator))))
				}
			}
			for _, e := range r.Examples {
				if !seen[e] && len(examples) < 20 {
					seen[e] = true
					examples = append(examples, text(b.runName(r)+": ", mono(e)))
				}
			}
		}
	}
	if len(t.Rows) == 0 && len(examples) == 0 {
		return nil, nil
	}
	s := Section{Title: "Failures"}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	if len(examples) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Examples of errors:")}, List{examples})
	}
	return []Section{s}, nil
}

// phasesOf are the phases of a load in the order in which they were run.
func phasesOf(r *record.Run, l record.Load) (out []string) {
	for _, p := range r.Phases {
		if _, ok := l.Totals[p.Name]; ok && !slices.Contains(out, p.Name) {
			out = append(out, p.Name)
		}
	}
	for _, p := range sorted(l.Totals) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
