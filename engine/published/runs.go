package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/series"
)

// A Cell is what a plan knows of a scenario on a target, and what Runs makes of its figures.
type Cell struct {
	Scenario, Target string
	Repeats          int           // how many runs the figures are of
	Figures          []series.Desc // that can be published of it
	None             string        // why there can be none; "" if there can

	Lines  int                           // of the file that are about it
	Runs   []map[string]float64          // by run: metric -> value; as many as Repeats
	Whole  map[string]map[string]float64 // metric -> statistic -> value, where single runs are not known
	Ranked []string                      // metrics whose runs stand in ascending order, because which gave which is not known
}

// Runs holds figures against the cells of a plan and fills these in. Every problem is told in one pass; a name that is
// unknown is told once, where it stands first.
func Runs(figures []Figure, cells []*Cell) diag.List {
	a := &assigner{cells: map[[2]string]*Cell{}, of: map[*Cell]map[string][]*Figure{}, said: map[string]*told{}}
	for _, c := range cells {
		a.cells[[2]string{c.Scenario, c.Target}] = c
		a.add(&a.scenarios, c.Scenario)
		a.add(&a.targets, c.Target)
	}
	for i := range figures {
		a.assign(&figures[i])
	}
	for _, c := range cells {
		c.Runs = make([]map[string]float64, c.Repeats)
		for i := range c.Runs {
			c.Runs[i] = map[string]float64{}
		}
		c.Whole = map[string]map[string]float64{}
		for _, d := range c.Figures {
			if of := a.of[c][d.Name]; len(of) > 0 {
				a.fold(c, d, of)
			}
		}
	}
	for _, t := range a.said {
		if t.more > 0 {
			t.problem.Msg += fmt.Sprintf(" (here and in %d more)", t.more)
		}
	}
	a.list.Sort(nil)
	return a.list
}

type assigner struct {
	cells              map[[2]string]*Cell
	scenarios, targets []string
	of                 map[*Cell]map[string][]*Figure // by metric
	said               map[string]*told
	list               diag.List
}

// told is a problem that many lines may have.
type told struct {
	problem *diag.Problem
	more    int
}

func (a *assigner) add(names *[]string, name string) {
	if !slices.Contains(*names, name) {
		*names = append(*names, name)
	}
}

// say adds a problem with one field of a line, once for each message.
func (a *assigner) say(f *Figure, column int, hint, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if t := a.said[msg]; t != nil {
		t.more++
		return
	}
	p := a.list.Addf(f.at[column], "%s", msg)
	p.Hint, p.End = hint, f.end[column]
	a.said[msg] = &told{problem: p}
}

// assign finds the cell of a figure.
func (a *assigner) assign(f *Figure) {
	c := a.cells[[2]string{f.Scenario, f.Target}]
	named := true
	for _, n := range []struct {
		column int
		what   string
		name   string
		known  []string
	}{{scenarioColumn, "scenario", f.Scenario, a.scenarios}, {targetColumn, "target", f.Target, a.targets}} {
		if !slices.Contains(n.known, n.name) {
			named = false
			a.say(f, n.column, dsl.Suggest(n.name, n.known, n.what+"s"), "the plan has no %s %q", n.what, n.name)
		}
	}
	switch {
	case !named:
	case c == nil:
		a.say(f, targetColumn, "add it to a stage, or leave these lines out", "no stage of the plan has %s on %s", f.Scenario, f.Target)
	case c.None != "":
		a.say(f, targetColumn, "correct the plan, or leave these lines out", "the plan has no figures of %s on %s: %s", f.Scenario, f.Target, c.None)
	case !slices.ContainsFunc(c.Figures, func(d series.Desc) bool { return d.Name == f.Metric }):
		var known []string
		for _, d := range c.Figures {
			known = append(known, d.Name)
		}
		a.say(f, metricColumn, dsl.Suggest(f.Metric, known, "its figures")+" (or add it to the scenario's figures)", "%s is no figure of the scenario %s", f.Metric, f.Scenario)
	default:
		c.Lines++
		if a.of[c] == nil {
			a.of[c] = map[string][]*Figure{}
		}
		a.of[c][f.Metric] = append(a.of[c][f.Metric], f)
	}
}

// listed joins names as a sentence does.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
