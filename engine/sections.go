package engine

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/measure"
)

// checkSections checks what the report's sections name.
func (c *compilation) checkSections() {
	known := slices.Concat(slices.Collect(maps.Keys(c.figures)), c.values) // text that an action sets can stand in a table
	for _, d := range c.customDescs {
		known = append(known, d.Name)
	}
	for _, t := range measure.Texts {
		known = append(known, t.Name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	seriesNames := slices.Sorted(maps.Keys(c.seriesNames))
	coords := []string{"stage", "scenario", "target", "round", "repeat"}
	for _, sc := range c.bound {
		coords = append(coords, sc.Val.Matrix.Names()...)
	}
	windows := c.windows()
	var labels []string
	for i := range c.Plan.Report {
		p := &c.Plan.Report[i]
		if w := p.Val.Where; w.IsSet() {
			cells, problems := c.compiler.Select(w.Text)
			reportAt(&c.list, problems, w.Pos)
			if problems == nil && len(cells) == 0 {
				c.list.Addf(w.Pos(1, 0), "no cell of the plan is selected").Hint = "compare with the names of the schedule"
			}
		}
		if p.Val.Beside != "" && !c.opt.Stored {
			if _, err := os.Stat(filepath.Join(p.Val.Beside, "journal.jsonl")); err != nil {
				c.list.Addf(p.PosOf("beside"), "beside: %s is no result set", p.Val.Beside).Hint = "name the directory of one, from where the plan is; planrun leaves them in results/PLAN-TIME"
			}
			label := cmp.Or(p.Val.Label, filepath.Base(p.Val.Beside))
			if slices.Contains(labels, label) {
				c.list.Addf(p.PosOf("beside"), "beside: two earlier result sets are called %s", label).Hint = "give one of them a label"
			}
			labels = append(labels, label)
		}
		for _, m := range p.Val.Metrics {
			name, stat := m, ""
			if i := strings.LastIndexByte(m, '/'); i >= 0 { // of a window; its name may have points, a metric's has none
				if !slices.Contains(windows, m[:i]) {
					c.list.Addf(p.PosOf("metrics"), "%s: no scenario has the window %q", m, m[:i]).Hint = didYouMean(m[:i], windows)
					continue
				}
				name = m[i+1:]
			}
			name, stat, _ = strings.Cut(name, ".")
			if !slices.Contains(known, name) {
				c.list.Addf(p.PosOf("metrics"), "unknown metric %q", name).Hint = didYouMean(name, known)
			} else if stat != "" && !slices.Contains(compare.Statistics, stat) {
				c.list.Addf(p.PosOf("metrics"), "%s: unknown statistic %q", m, stat).Hint = didYouMean(stat, compare.Statistics)
			} else if stat != "" && slices.ContainsFunc(measure.Texts, func(t measure.Text) bool { return t.Name == name }) {
				c.list.Addf(p.PosOf("metrics"), "%s: %s is a text, which has no statistic", m, name).Hint = "write " + strings.TrimSuffix(m, "."+stat)
			}
		}
		if ch := p.Val.Chart; ch != "" && !slices.Contains(known, ch) && !slices.Contains(seriesNames, ch) {
			c.list.Addf(p.PosOf("chart"), "unknown metric or series %q", ch).Hint = didYouMean(ch, append(seriesNames, known...))
		}
		for _, key := range []struct {
			name  string
			names []string
		}{{"rows", p.Val.Rows}, {"columns", p.Val.Columns}} {
			for _, n := range key.names {
				if !slices.Contains(coords, n) {
					c.list.Addf(p.PosOf(key.name), "unknown coordinate %q", n).Hint = didYouMean(n, coords)
				}
			}
		}
	}
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
