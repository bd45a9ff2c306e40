package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// crossMetrics are what generators are compared by.
var crossMetrics = []struct{ name, title string }{
	{"req_per_s", "req_per_s"}, {"service_p50_ms", "p50 (ms)"}, {"service_p90_ms", "p90 (ms)"}, {"service_p99_ms", "p99 (ms)"}, {"service_p99_9_ms", "p99.9 (ms)"}, {"failed", "failed"},
}

// crossChecks shows what other load generators saw beside each load's own figures.
func crossChecks(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "cell"}, {Title: "load"}, {Title: "generator"}, {Title: "runs", Right: true}}}
	for _, m := range crossMetrics {
		t.Columns = append(t.Columns, Column{Title: m.title, Right: true})
	}
	var said methods
	var not []Text
	for i := range b.res.Cells {
		for _, c := range b.crossChecked(&b.res.Cells[i]) {
			t.Rows = append(t.Rows, b.crossRow(c, "planrun", nil))
			for _, g := range c.generators {
				if len(c.runsOf(g)) > 0 {
					t.Rows = append(t.Rows, b.crossRow(c, g, c.own()))
				}
				not = append(not, c.notRun(b, g)...)
				said.add(c, g)
			}
		}
	}
	if len(t.Rows)+len(not) == 0 {
		return nil, nil
	}
	s := Section{Title: "Cross-check", Blocks: []Block{
		Paragraph{text("Other load generators did the same as the load when the phases of its run were over: at the same endpoint, from the same CPUs, one after another, with the same request, connections and rate where “How they measure” does not say otherwise. Latencies are of the service, from the send to the end of the answer, for planrun too: its latency from the due time is not comparable. Medians of the runs; in brackets, by how much planrun's figure is above (+) or below (−) the other one, except for latencies that are of something else.")}, t}}
	if len(not) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Not compared"}, List{not})
	}
	if len(said) > 0 {
		s.Blocks = append(s.Blocks, Heading{"How they measure"}, List{said.items()})
	}
	return []Section{s}, nil
}

// A crossed is a load of a cell with its cross-checks, by run.
type crossed struct {
	cell       *record.Cell
	load       string
	runs       []*record.Run
	generators []string // in the order of the plan
}

func (b *builder) crossChecked(cell *record.Cell) (out []*crossed) {
	for _, id := range cell.Runs {
		r := b.runs[id]
		if r == nil {
			continue
		}
		for _, l := range r.Loads {
			if len(l.CrossChecks) == 0 {
				continue
			}
			i := slices.IndexFunc(out, func(c *crossed) bool { return c.load == l.Name })
			if i < 0 {
				i = len(out)
				out = append(out, &crossed{cell: cell, load: l.Name})
			}
			out[i].runs = append(out[i].runs, r)
			for _, c := range l.CrossChecks {
				if !slices.Contains(out[i].generators, c.Generator) {
					out[i].generators = append(out[i].generators, c.Generator)
				}
			}
		}
	}
	return out
}

// checks are the records of a generator, by run.
func (c *crossed) checks(generator string) (out []record.CrossCheck) {
	for _, r := range c.runs {
		for _, l := range r.Loads {
			for _, x := range l.CrossChecks {
				if l.Name == c.load && x.Generator == generator {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// otherwise says why a generator's latencies are of something else; "" if they are of the same.
func (c *crossed) otherwise(generator string) string {
	for _, x := range c.checks(generator) {
		if x.Figures != nil && x.Figures.Otherwise != "" {
			return x.Figures.Otherwise
		}
	}
	return ""
}

// runsOf are the metrics of a generator in the runs in which it has some; "planrun" is the load's own.
func (c *crossed) runsOf(generator string) (out []*record.Window) {
	for _, r := range c.runs {
		if m := r.Metrics["cross-check/"+c.load+"/"+generator]; m != nil {
			out = append(out, m)
		}
	}
	return out
}

func (c *crossed) own() []*record.Window { return c.runsOf("planrun") }

// medianOf is the median of a metric over runs; ok is false if none has it.
func medianOf(runs []*record.Window, name string) (v float64, ok bool) {
	var all []float64
	for _, m := range runs {
		if x, ok := m.Get(name); ok {
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return stats.Median(all), true
}

func (b *builder) crossRow(c *crossed, generator string, own []*record.Window) []Text {
	runs, otherwise := c.runsOf(generator), c.otherwise(generator)
	line := row(b.name(c.cell.Coord), oneLine(c.load), generator, fmt.Sprint(len(runs)))
	for _, m := range crossMetrics {
		v, ok := medianOf(runs, m.name)
		if !ok {
			line = append(line, text("n/a"))
			continue
		}
		class := series.Timing
		if m.name == "failed" {
			class = series.Count
		}
		said := number(v, class)
		if ours, ok := medianOf(own, m.name); ok && v > 0 && class == series.Timing && (m.name == "req_per_s" || otherwise == "") {
			said += " (" + signed(ours/v-1) + ")"
		}
		line = append(line, text(said))
	}
	return line
}

// signed prints a difference as a share: +12 %, −3.4 %.
func signed(share float64) string {
	switch {
	case share < 0:
		return "\u2212" + percent(-share)
	case share > 0:
		return "+" + percent(share)
	}
	return "equal"
}

// notRun says why a generator has no figures, each reason once with how many runs it is of.
func (c *crossed) notRun(b *builder, generator string) (out []Text) {
	var reasons []string
	n := map[string]int{}
	for _, x := range c.checks(generator) {
		if x.NotRun != "" {
			if n[x.NotRun]++; n[x.NotRun] == 1 {
				reasons = append(reasons, x.NotRun)
			}
		}
	}
	for _, why := range reasons {
		out = append(out, text(strong(generator), fmt.Sprintf(" beside load %s of %s, %s: %s.", oneLine(c.load), b.name(c.cell.Coord), plural.Of(n[why], "run"), oneLine(why))))
	}
	return out
}

// methods are how generators measure, each said once with the loads that it is of.
type methods []*method

type method struct {
	generator, version, how string
	loads                   []string
}

func (m *methods) add(c *crossed, generator string) {
	for _, x := range c.checks(generator) {
		if x.Method == "" {
			continue
		}
		how := oneLine(x.Method)
		if why := c.otherwise(generator); why != "" {
			how += " Not held against the load: " + oneLine(why) + "."
		}
		i := slices.IndexFunc(*m, func(y *method) bool { return y.generator == generator && y.version == x.Version && y.how == how })
		if i < 0 {
			i = len(*m)
			*m = append(*m, &method{generator: generator, version: x.Version, how: how})
		}
		if y := (*m)[i]; !slices.Contains(y.loads, c.load) {
			y.loads = append(y.loads, c.load)
		}
	}
}

// items lists them by generator.
func (m methods) items() (out []Text) {
	slices.SortStableFunc(m, func(a, b *method) int { return strings.Compare(a.generator, b.generator) })
	for _, x := range m {
		version := ""
		if x.version != "" {
			version = " (" + oneLine(x.version) + ")"
		}
		out = append(out, text(strong(x.generator), version+", beside "+oneLine(strings.Join(x.loads, ", "))+": "+x.how))
	}
	return out
}
