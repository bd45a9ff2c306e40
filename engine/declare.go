package engine

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// A loadDecl is a load that a scenario runs.
type loadDecl struct {
	name     string
	headline bool
}

// declared is what the actions of one cell bring: before anything runs, names and figures are known from it.
type declared struct {
	processes []task.ProcessDecl
	loads     []loadDecl
	metrics   []series.Desc
	values    []string
	faults    bool
}

func (d *declared) process(name string) bool {
	return slices.ContainsFunc(d.processes, func(p task.ProcessDecl) bool { return p.Name == name || p.Role == name })
}

// endpoints lists the names of ports that the target's processes listen on.
func (d *declared) endpoints() (out []string) {
	for _, p := range d.processes {
		if p.Role == "" || p.Role == "sut" || p.Role == "balancer" {
			out = append(out, p.Listen...)
		}
	}
	return out
}

// walkActions calls f for every action, those in undo lists and in repeat included.
func walkActions(actions []dsl.Part[dsl.Action], f func(*dsl.Part[dsl.Action])) {
	for i := range actions {
		f(&actions[i])
		walkActions(actions[i].Val.Undo, f)
		if n, ok := actions[i].Val.Spec.(task.Nested); ok {
			walkActions(n.Actions(), f)
		}
	}
}

// declares collects what a list of actions brings.
func (d *declared) declares(actions []dsl.Part[dsl.Action]) {
	walkActions(actions, func(a *dsl.Part[dsl.Action]) {
		if h, ok := a.Val.Spec.(interface{ InHeadline() bool }); ok {
			d.loads = append(d.loads, loadDecl{actionName(a), h.InHeadline()})
		}
		if a.Val.Kind == "toxic" {
			d.faults = true
		}
		if s, ok := a.Val.Spec.(task.Declarer); ok {
			x := s.Declares()
			d.processes, d.metrics, d.values = append(d.processes, x.Processes...), append(d.metrics, x.Metrics...), append(d.values, x.Values...)
		}
	})
}

// actionName is what load("...") and messages call an action.
func actionName(a *dsl.Part[dsl.Action]) string {
	if a.Val.Name != "" {
		return a.Val.Name
	}
	if n, ok := a.Val.Spec.(interface{ DefaultName() string }); ok && n.DefaultName() != "" {
		return n.DefaultName()
	}
	return a.Val.Kind
}

// declaration lists what a cell's actions bring, with the processes of its backends.
func (c *compilation) declaration(cell *Cell) *declared {
	d := &declared{}
	for _, b := range c.Plan.Backends.Names() {
		v := c.backends[b].Val
		if len(v.Address) == 0 {
			d.processes = append(d.processes, task.ProcessDecl{Name: b, Role: "backends", Replicas: v.Replicas, Listen: v.Listen, Programs: programs(v.Command)})
		}
	}
	d.declares(c.Plan.Setup)
	d.declares(cell.Target.Val.Install)
	for _, p := range cell.Scenario.Val.Phases {
		d.declares(p.Val.Do)
	}
	return d
}

func programs(command []string) []string {
	if len(command) == 0 {
		return nil
	}
	return command[:1]
}

// Missing lists the programs of a cell that are not on PATH.
func (d *declared) missing() (out []string) {
	for _, p := range d.processes {
		for _, prog := range p.Programs {
			if _, err := exec.LookPath(prog); err != nil && prog != "" && !slices.Contains(out, prog) {
				out = append(out, prog)
			}
		}
	}
	return out
}

// declare makes the schema: which names and figures each scenario has, for each target.
func (c *compilation) declare() {
	s := &verdict.Schema{Targets: c.targetNames(), Functions: planFunctions, Scenarios: map[string]*verdict.Scenario{}}
	byTarget := map[string]map[string][]verdict.Metric{} // target -> scenario
	decls := map[*Cell]*declared{}
	for _, cell := range c.Cells {
		d := c.declaration(cell)
		cell.declared = d
		decls[cell] = d
		c.values = append(c.values, d.values...)
		if cell.Unsupported == "" {
			c.uses(cell, d)
		}
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	for name, sc := range c.bound {
		s.Scenarios[name] = &verdict.Scenario{Axes: axesOf(sc), Events: measure.EventKinds}
		for _, p := range sc.Val.Phases {
			s.Scenarios[name].Phases = append(s.Scenarios[name].Phases, p.Val.Name)
		}
	}
	all := map[string]map[string]int{} // scenario -> metric -> number of targets that have it
	targets := map[string]map[string]bool{}
	for _, cell := range c.Cells {
		name, target := cell.Coord.Scenario, cell.Coord.Target
		if targets[name][target] {
			continue
		}
		if targets[name] == nil {
			targets[name], all[name] = map[string]bool{}, map[string]int{}
		}
		targets[name][target] = true
		m := c.scenarioMetrics(cell, decls[cell])
		c.metrics[name] = c.metrics[name].merge(m)
		if byTarget[target] == nil {
			byTarget[target] = map[string][]verdict.Metric{}
		}
		for _, d := range m.run {
			byTarget[target][name] = append(byTarget[target][name], metricOf(d))
			all[name][d.Name]++
		}
		sc := s.Scenarios[name]
		for l, ds := range m.loads {
			if sc.Loads == nil {
				sc.Loads = map[string][]verdict.Metric{}
			}
			sc.Loads[l] = metricsOf(ds)
		}
		for p, ds := range m.replicas {
			if sc.Replicas == nil {
				sc.Replicas = map[string][]verdict.Metric{}
			}
			sc.Replicas[p] = metricsOf(ds)
		}
		for _, d := range m.series {
			v := verdict.Metric{Name: d.Name}
			if d.Class == series.Timing {
				v.Class = verdict.Rate
			}
			if !slices.ContainsFunc(sc.Series, func(x verdict.Metric) bool { return x.Name == v.Name }) {
				sc.Series = append(sc.Series, v)
			}
		}
	}
	// What all targets have is the scenario's, the rest the target's own.
	for name, sc := range s.Scenarios {
		common := func(m verdict.Metric) bool { return all[name][m.Name] == len(targets[name]) }
		for _, t := range slices.Sorted(maps.Keys(targets[name])) {
			for _, m := range byTarget[t][name] {
				if common(m) && !slices.ContainsFunc(sc.Metrics, func(x verdict.Metric) bool { return x.Name == m.Name }) {
					sc.Metrics = append(sc.Metrics, m)
				}
			}
			byTarget[t][name] = slices.DeleteFunc(byTarget[t][name], common)
		}
	}
	for i := range s.Targets {
		s.Targets[i].Metrics = byTarget[s.Targets[i].Name]
		for _, cell := range c.Cells {
			if cell.Coord.Target == s.Targets[i].Name && cell.Unsupported != "" {
				s.Targets[i].Unsupported[cell.Coord.Scenario] = cmp.Or(s.Targets[i].Unsupported[cell.Coord.Scenario], cell.Unsupported)
			}
		}
	}
	for _, st := range c.Stages {
		s.Stages = append(s.Stages, verdict.Stage{Name: st.Name, Scenarios: c.existing(st.Scenarios), Targets: st.Targets, Rounds: st.Rounds})
	}
	s.Names = c.planNames()
	c.schema = s
	c.compileAll()
}

// scenarioMetrics holds the descriptions of what the runs of a scenario have.
type scenarioMetrics struct {
	run             []series.Desc
	series          []series.SeriesDesc
	loads, replicas map[string][]series.Desc
}

// scenarioMetrics says what the runs of a cell will have.
func (c *compilation) scenarioMetrics(cell *Cell, d *declared) scenarioMetrics {
	k := measure.Known{Loads: slices.ContainsFunc(d.loads, func(l loadDecl) bool { return l.headline }), Roles: []string{"control"}, Processes: []string{"planrun"}}
	if len(d.loads) > 0 {
		k.Roles = append(k.Roles, "load")
	}
	for _, p := range d.processes {
		k.Roles, k.Processes = append(k.Roles, cmp.Or(p.Role, "sut")), append(k.Processes, p.Name)
	}
	for _, l := range d.loads {
		k.Processes = append(k.Processes, l.name)
	}
	for _, p := range c.probes(cell) {
		k.Probes = append(k.Probes, measure.Probe{Series: p.spec.Produces(), Of: p.of})
	}
	k.Values = d.metrics
	for _, l := range [][]string{k.Roles, k.Processes} {
		slices.Sort(l)
	}
	k.Roles, k.Processes = slices.Compact(k.Roles), slices.Compact(k.Processes)
	m := scenarioMetrics{run: measure.Produced(k), series: measure.ProducedSeries(k), loads: map[string][]series.Desc{}, replicas: map[string][]series.Desc{}}
	for _, l := range d.loads {
		m.loads[l.name] = measure.ProducedLoad()
	}
	for _, p := range d.processes {
		m.replicas[p.Name] = measure.ProducedReplica(k)
	}
	return m
}

func (a scenarioMetrics) merge(b scenarioMetrics) scenarioMetrics {
	add := func(x, y []series.Desc) []series.Desc {
		for _, d := range y {
			if !slices.ContainsFunc(x, func(e series.Desc) bool { return e.Name == d.Name }) {
				x = append(x, d)
			}
		}
		return x
	}
	a.run = add(a.run, b.run)
	for _, d := range b.series {
		if !slices.ContainsFunc(a.series, func(e series.SeriesDesc) bool { return e.Name == d.Name }) {
			a.series = append(a.series, d)
		}
	}
	for _, m := range []struct {
		to   *map[string][]series.Desc
		from map[string][]series.Desc
	}{{&a.loads, b.loads}, {&a.replicas, b.replicas}} {
		for k, v := range m.from {
			if *m.to == nil {
				*m.to = map[string][]series.Desc{}
			}
			(*m.to)[k] = add((*m.to)[k], v)
		}
	}
	return a
}

// metricOf tells expressions about a metric.
func metricOf(d series.Desc) verdict.Metric {
	m := verdict.Metric{Name: d.Name, Across: map[series.Across]verdict.Across{series.Median: verdict.ByMedian, series.Sum: verdict.BySum, series.Max: verdict.ByMax}[d.Across]}
	switch {
	case d.Class == series.Count && d.Unit == "":
		m.Class = verdict.Count
	case d.Class == series.Timing && d.Unit == "ms":
		m.Class = verdict.Latency
	case d.Class == series.Timing && (d.Unit == "cores" || d.Unit == "us"):
		m.Class = verdict.CPU
	case d.Class == series.Timing:
		m.Class = verdict.Rate
	}
	return m
}

func metricsOf(ds []series.Desc) (out []verdict.Metric) {
	for _, d := range ds {
		out = append(out, metricOf(d))
	}
	return out
}

// uses checks the names that actions refer to.
func (c *compilation) uses(cell *Cell, d *declared) {
	check := func(actions []dsl.Part[dsl.Action]) {
		walkActions(actions, func(a *dsl.Part[dsl.Action]) {
			s, ok := a.Val.Spec.(task.Declarer)
			if !ok {
				return
			}
			for _, u := range s.Declares().Uses {
				if u.Name == "" {
					continue
				}
				var names []string
				switch u.Kind {
				case "process":
					for _, p := range d.processes {
						names = append(names, p.Name)
					}
				case "endpoint":
					names = append(d.endpoints(), cell.Target.Val.Endpoints.Names()...)
				case "relay":
					names = cell.Relays
				case "backend":
					names = c.Plan.Backends.Names()
				case "address":
					names = c.Plan.Backends.Names()
					for _, p := range d.processes {
						names = append(names, p.Name)
					}
				default:
					continue
				}
				if !slices.Contains(names, u.Name) {
					p := c.list.Addf(a.PosOf(a.Val.Kind, u.Field), "%s", unknownUse(u, cell))
					p.Hint = didYouMean(u.Name, names)
				}
			}
		})
	}
	check(cell.Target.Val.Install)
	check(cell.Target.Val.RoutesChanged)
	for _, p := range cell.Scenario.Val.Phases {
		check(p.Val.Do)
	}
}

func unknownUse(u task.Use, cell *Cell) string {
	switch u.Kind {
	case "endpoint":
		return fmt.Sprintf("target %q has no endpoint %q", cell.Coord.Target, u.Name)
	case "relay":
		return fmt.Sprintf("the relay %q is not in the path of scenario %q; add it to the scenario's relays", u.Name, cell.Coord.Scenario)
	}
	return fmt.Sprintf("unknown %s %q", u.Kind, u.Name)
}
