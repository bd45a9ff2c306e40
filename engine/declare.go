package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

// declare makes the schema: which names and figures each scenario has, for each target.
func (c *compilation) declare() {
	s := &verdict.Schema{Targets: c.targetNames(), Scenarios: map[string]*verdict.Scenario{}}
	byTarget := map[string]map[string][]verdict.Metric{} // target -> scenario
	decls := map[*Cell]*declared{}
	for _, cell := range c.Cells {
		d := c.declaration(cell)
		cell.declared = d
		decls[cell] = d
		c.values = append(c.values, d.values...)
		if cell.Unsupported == "" {
			c.uses(cell, d)
			c.checkActions(cell)
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
	k := measure.Known{Loads: slices.ContainsFunc(d.loads, func(l loadDecl) bool { return l.headline }), Roles: []string{"control"}, Processes: []string{"planrun"}, RoleOf: map[string]string{"planrun": "control"}}
	if len(d.loads) > 0 {
		k.Roles = append(k.Roles, "load")
	}
	for _, p := range d.processes {
		role := cmp.Or(p.Role, "sut")
		k.Roles, k.Processes, k.RoleOf[p.Name] = append(k.Roles, role), append(k.Processes, p.Name), role
	}
	for _, l := range d.loads {
		k.LoadNames, k.Processes, k.RoleOf[l.name] = append(k.LoadNames, l.name), append(k.Processes, l.name), "load"
	}
	probes, _ := c.probes(cell, cell.eval.fill(context.Background(), cell.known, cell.values())) // problems are found with the other expressions
	for _, p := range probes {
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
	m := verdict.Metric{Name: d.Name, List: d.List, Across: map[series.Across]verdict.Across{series.Median: verdict.ByMedian, series.Sum: verdict.BySum, series.Max: verdict.ByMax}[d.Across]}
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
