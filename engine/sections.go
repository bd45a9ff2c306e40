package engine

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/measure"
)

// A sectionCheck holds the names that sections of the report may use.
type sectionCheck struct {
	*compilation
	metrics []string // of tables, and texts
	series  []string
	coords  []string
	windows []string
	labels  []string // of the earlier result sets so far
}

// checkSections checks what the report's sections name.
func (c *compilation) checkSections() {
	s := sectionCheck{compilation: c, metrics: c.tableNames(), series: slices.Sorted(maps.Keys(c.seriesNames)), coords: c.coordinates(), windows: c.windows()}
	for i := range c.Plan.Report {
		p := &c.Plan.Report[i]
		s.checkWhere(p)
		if p.Val.Beside != "" && !c.opt.Stored {
			s.checkBeside(p)
		}
		for _, m := range p.Val.Metrics {
			s.checkMetric(p, m)
		}
		if ch := p.Val.Chart; ch != "" && !slices.Contains(s.metrics, ch) && !slices.Contains(s.series, ch) {
			c.list.Addf(p.PosOf("chart"), "unknown metric or series %q", ch).Hint = didYouMean(ch, slices.Concat(s.series, s.metrics))
		}
		s.checkCoordinates(p, "rows", p.Val.Rows)
		s.checkCoordinates(p, "columns", p.Val.Columns)
	}
}

func (s *sectionCheck) checkWhere(p *dsl.Part[dsl.Section]) {
	w := p.Val.Where
	if !w.IsSet() {
		return
	}
	cells, problems := s.compiler.Select(w.Text)
	reportAt(&s.list, problems, w.Pos)
	if problems == nil && len(cells) == 0 {
		s.list.Addf(w.Pos(1, 0), "no cell of the plan is selected").Hint = "compare with the names of the schedule"
	}
}

// checkBeside checks that an earlier result set is one, and that it has a name of its own in the report.
func (s *sectionCheck) checkBeside(p *dsl.Part[dsl.Section]) {
	if _, err := os.Stat(filepath.Join(p.Val.Beside, "journal.jsonl")); err != nil {
		s.list.Addf(p.PosOf("beside"), "beside: %s is no result set", p.Val.Beside).Hint = "name the directory of one, from where the plan is; planrun leaves them in results/PLAN-TIME"
	}
	label := cmp.Or(p.Val.Label, filepath.Base(p.Val.Beside))
	if slices.Contains(s.labels, label) {
		s.list.Addf(p.PosOf("beside"), "beside: two earlier result sets are called %s", label).Hint = "give one of them a label"
	}
	s.labels = append(s.labels, label)
}

// checkMetric checks a metric as tables name it: WINDOW/METRIC.STATISTIC, the first and the last of which may be left out.
func (s *sectionCheck) checkMetric(p *dsl.Part[dsl.Section], m string) {
	name, pos := m, p.PosOf("metrics")
	if i := strings.LastIndexByte(m, '/'); i >= 0 { // the name of a window may have points, a metric's has none
		if !slices.Contains(s.windows, m[:i]) {
			s.list.Addf(pos, "%s: no scenario has the window %q", m, m[:i]).Hint = didYouMean(m[:i], s.windows)
			return
		}
		name = m[i+1:]
	}
	name, stat, _ := strings.Cut(name, ".")
	isText := slices.ContainsFunc(measure.Texts, func(t measure.Text) bool { return t.Name == name })
	switch {
	case !slices.Contains(s.metrics, name):
		s.list.Addf(pos, "unknown metric %q", name).Hint = didYouMean(name, s.metrics)
	case stat == "":
	case !slices.Contains(compare.Statistics, stat):
		s.list.Addf(pos, "%s: unknown statistic %q", m, stat).Hint = didYouMean(stat, compare.Statistics)
	case isText:
		s.list.Addf(pos, "%s: %s is a text, which has no statistic", m, name).Hint = "write " + strings.TrimSuffix(m, "."+stat)
	}
}

func (s *sectionCheck) checkCoordinates(p *dsl.Part[dsl.Section], key string, names []string) {
	for _, n := range names {
		if !slices.Contains(s.coords, n) {
			s.list.Addf(p.PosOf(key), "unknown coordinate %q", n).Hint = didYouMean(n, s.coords)
		}
	}
}

// tableNames are the names of what can stand in a table: figures, and texts.
func (c *compilation) tableNames() []string {
	names := slices.Concat(slices.Collect(maps.Keys(c.figures)), c.values)
	for _, d := range c.customDescs {
		names = append(names, d.Name)
	}
	for _, t := range measure.Texts {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// coordinates are the names of what tells cells apart.
func (c *compilation) coordinates() []string {
	names := []string{"stage", "scenario", "target", "round", "repeat"}
	for _, sc := range c.bound {
		names = append(names, sc.Val.Matrix.Names()...)
	}
	return names
}

// windows are the names of those that a metric of a table can be of: phases, loads over the headline, and loads of phases.
func (c *compilation) windows() (out []string) {
	for _, cell := range c.Cells {
		for _, ph := range cell.Scenario.Val.Phases {
			out = append(out, "phase/"+ph.Val.Name)
			for _, l := range cell.declared.loads {
				out = append(out, "load/"+l.name, "phase/"+ph.Val.Name+"/load/"+l.name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
