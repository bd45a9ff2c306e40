package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// index answers the questions that the static walk and the reader ask of a schema.
type index struct {
	*Schema
	names     map[string]Name                          // all dotted names of all times
	metrics   map[string]Metric                        // of any scenario, by name
	has       map[string]map[string]map[string]Metric  // scenario -> metric -> target ("" is every target)
	replica   map[string]Metric                        // of any process
	shared    map[*Metric]map[string]map[string]Metric // has, by the list that it was made of
	seen      map[*Metric]bool                         // lists of loads and replicas
	stagesOf  map[string][]string
	targets   []string
	scenarios []string
	stages    map[string]*Stage
	axes      map[string][]string // of all scenarios: name -> values as text
	cells     []Coord
}

func newIndex(s *Schema) (*index, error) {
	ix := &index{Schema: s, names: map[string]Name{}, metrics: map[string]Metric{}, has: map[string]map[string]map[string]Metric{},
		shared: map[*Metric]map[string]map[string]Metric{}, seen: map[*Metric]bool{}, replica: map[string]Metric{}, stagesOf: map[string][]string{}, stages: map[string]*Stage{}, axes: map[string][]string{},
		scenarios: slices.Sorted(maps.Keys(s.Scenarios))}
	for _, t := range s.Targets {
		ix.targets = append(ix.targets, t.Name)
	}
	for i, st := range s.Stages {
		if ix.stages[st.Name] != nil {
			return nil, fmt.Errorf("two stages are named %q", st.Name)
		}
		ix.stages[st.Name] = &s.Stages[i]
		for _, sc := range st.Scenarios {
			if s.Scenarios[sc] == nil {
				return nil, fmt.Errorf("stage %q runs an unknown scenario %q", st.Name, sc)
			}
			ix.stagesOf[sc] = append(ix.stagesOf[sc], st.Name)
		}
	}
	axisTypes := map[string]Type{}
	for _, name := range ix.scenarios {
		ix.addScenario(name, axisTypes)
	}
	ix.listCells()
	return ix, ix.addNames(axisTypes)
}

func (ix *index) addScenario(name string, axisTypes map[string]Type) {
	sc := ix.Scenarios[name]
	own := slices.ContainsFunc(ix.Targets, func(t Target) bool { return len(t.Metrics[""])+len(t.Metrics[name]) > 0 })
	if have := ix.shared[key(sc.Metrics)]; have != nil && !own {
		ix.has[name] = have // the same list as another scenario's
	} else {
		ix.addMetrics(name, own)
	}
	for _, ms := range sc.Loads {
		if len(ms) > 0 && ix.seen[key(ms)] {
			continue
		}
		ix.seen[key(ms)] = true
		for _, m := range ms {
			if _, ok := ix.metrics[m.Name]; !ok {
				ix.metrics[m.Name] = m
			}
		}
	}
	for _, ms := range sc.Replicas {
		if ix.seen[key(ms)] {
			continue
		}
		ix.seen[key(ms)] = true
		for _, m := range ms {
			ix.replica[m.Name] = m
		}
	}
	for _, ax := range sc.Axes {
		t := TypeOf(ax.Values).cel().Parameters()[0]
		if old, ok := axisTypes[ax.Name]; ok && !old.cel().IsExactType(t) {
			axisTypes[ax.Name] = Type{}
		} else {
			axisTypes[ax.Name] = Type{t}
		}
		for _, v := range ax.Values {
			if text := valueText(v); !slices.Contains(ix.axes[ax.Name], text) {
				ix.axes[ax.Name] = append(ix.axes[ax.Name], text)
			}
		}
	}
}

// key tells lists apart by their memory: many scenarios have one and the same list.
func key(ms []Metric) *Metric {
	if len(ms) == 0 {
		return nil
	}
	return &ms[0]
}

// addMetrics notes which metrics a scenario has, and which targets have others.
func (ix *index) addMetrics(name string, own bool) {
	sc := ix.Scenarios[name]
	ix.has[name] = map[string]map[string]Metric{}
	defer func() {
		if !own && len(sc.Metrics) > 0 {
			ix.shared[key(sc.Metrics)] = ix.has[name]
		}
	}()
	add := func(target string, ms []Metric) {
		for _, m := range ms {
			if ix.has[name][m.Name] == nil {
				ix.has[name][m.Name] = map[string]Metric{}
			}
			ix.has[name][m.Name][target], ix.metrics[m.Name] = m, m
		}
	}
	add("", sc.Metrics)
	for _, t := range ix.Targets {
		add(t.Name, t.Metrics[""])
		add(t.Name, t.Metrics[name])
	}
}

func (ix *index) addNames(axisTypes map[string]Type) error {
	all := []Name{{Name: "stage", Type: TypeOfKind(Text), In: InCell}, {Name: "scenario", Type: TypeOfKind(Text), In: InCell},
		{Name: "target", Type: TypeOfKind(Text), In: InCell}, {Name: "round", Type: TypeOfKind(Number), In: AtRun | AtLive | AtJudge},
		{Name: "repeat", Type: TypeOfKind(Number), In: AtRun | AtLive | AtJudge},
		{Name: "targets", Type: Type{targetsT}, In: Always}, {Name: "targets.measured", Type: Type{targetsT}, In: AtStage | AtJudge},
		{Name: "runs", Type: Type{runsT}, In: AtJudge}}
	for ax, t := range axisTypes {
		all = append(all, Name{Name: "matrix." + ax, Type: t, In: InCell})
	}
	for p, v := range ix.Params {
		all = append(all, Name{Name: "params." + p, Type: v.Type, Value: v.Value, In: Since(cmp.Or(v.Known, AtPlan)), Secret: v.Secret})
	}
	return ix.add(append(all, ix.Names...))
}

func (ix *index) add(all []Name) error {
	for _, n := range all {
		if _, twice := ix.names[n.Name]; twice {
			return fmt.Errorf("the name %q is declared twice", n.Name)
		}
		if _, m := ix.metrics[n.Name]; m {
			return fmt.Errorf("the name %q is that of a metric", n.Name)
		}
		if n.Value != nil {
			n.Type = TypeOf(n.Value)
		}
		ix.names[n.Name] = n
	}
	return nil
}

// listCells lists every cell of the plan, in the order of its schedule.
func (ix *index) listCells() {
	for _, st := range ix.Stages {
		for _, sc := range st.Scenarios {
			for _, t := range ix.targets {
				if st.Targets != nil && !slices.Contains(st.Targets, t) {
					continue
				}
				ps := []place{{Coord: Coord{Stage: st.Name, Scenario: sc, Target: t}}}
				for _, ax := range ix.Scenarios[sc].Axes {
					var next []place
					for _, p := range ps {
						for _, v := range ax.Values {
							next = append(next, p.axis(ax.Name, valueText(v)))
						}
					}
					ps = next
				}
				for _, p := range ps {
					ix.cells = append(ix.cells, p.Coord)
				}
			}
		}
	}
}

// axisValues are the values of an axis of one scenario; nil where it has no such axis.
func (ix *index) axisValues(scenario, axis string) (out []string) {
	if sc := ix.Scenarios[scenario]; sc != nil {
		for _, ax := range sc.Axes {
			if ax.Name == axis {
				for _, v := range ax.Values {
					out = append(out, valueText(v))
				}
			}
		}
	}
	return out
}

// metric finds a metric of a cell's headline; ok is false where this target lacks it.
func (ix *index) metric(c Coord, name string) (m Metric, ok bool) {
	by := ix.has[c.Scenario][name]
	if m, ok = by[c.Target]; !ok {
		m, ok = by[""]
	}
	return m, ok
}

// loadMetric finds a metric of one load of a cell.
func (ix *index) loadMetric(c Coord, load, name string) (Metric, bool) {
	if sc := ix.Scenarios[c.Scenario]; sc != nil {
		for _, m := range sc.Loads[load] {
			if m.Name == name {
				return m, true
			}
		}
	}
	return Metric{}, false
}

// scenarioMetrics are the names of what some target's cells of a scenario have.
func (ix *index) scenarioMetrics(scenario string) []string {
	return slices.Sorted(maps.Keys(ix.has[scenario]))
}

// unsupported says why a cell is skipped, or "".
func (ix *index) unsupported(c Coord) string {
	for _, t := range ix.Targets {
		if t.Name == c.Target {
			if t.Missing != "" {
				return t.Missing
			}
			return t.Unsupported[c.Scenario]
		}
	}
	return ""
}

// noCell says what keeps p from being a cell of the plan, or "".
func (ix *index) noCell(p place) string {
	c := p.resolve(ix)
	sc, stages := ix.Scenarios[c.Scenario], ix.stagesOf[c.Scenario]
	switch {
	case c.Scenario == "":
		return "it does not say which scenario; add scenario(...)"
	case sc == nil:
		return fmt.Sprintf("no scenario %q", c.Scenario)
	case c.Target == "":
		return "it does not say which target; add target(...)"
	case len(stages) == 0:
		return fmt.Sprintf("no stage runs scenario %q", c.Scenario)
	case c.Stage == "":
		return fmt.Sprintf("it does not say which stage; scenario %q runs in %s; add stage(...)", c.Scenario, strings.Join(stages, ", "))
	}
	for _, ax := range sc.Axes {
		v, ok := c.Axes()[ax.Name]
		if !ok {
			return fmt.Sprintf("scenario %q has the axis %q; add axis(%q, ...)", c.Scenario, ax.Name, ax.Name)
		}
		if vs := ix.axisValues(c.Scenario, ax.Name); !slices.Contains(vs, v) {
			return fmt.Sprintf("scenario %q has no %s=%s%s", c.Scenario, ax.Name, v, join(didYouMean(v, vs)))
		}
	}
	for name := range c.Axes() {
		if ix.axisValues(c.Scenario, name) == nil {
			return fmt.Sprintf("scenario %q has no axis %q", c.Scenario, name)
		}
	}
	st := ix.stages[c.Stage]
	if st == nil || !slices.Contains(st.Scenarios, c.Scenario) {
		return fmt.Sprintf("stage %q does not run scenario %q; it runs in %s", c.Stage, c.Scenario, strings.Join(stages, ", "))
	}
	if st.Targets != nil && !slices.Contains(st.Targets, c.Target) {
		return fmt.Sprintf("stage %q does not run target %q", c.Stage, c.Target)
	}
	return ""
}

// names of a map, sorted.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
