package verdict

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// the fixture: four targets (gone is missing here), six scenarios, four stages; 3 runs a cell, of slowloris one.
func fixture() (*Schema, *Data) {
	load := []Metric{{Name: "req_per_s", Class: Rate}, {Name: "requests", Class: Count, Across: BySum}, {Name: "failed", Class: Count, Across: BySum},
		{Name: "slow_over_1s", Class: Count, Across: BySum}, {Name: "p50_ms", Class: Latency}, {Name: "p99_ms", Class: Latency}, {Name: "p99_clean_ms", Class: Latency},
		{Name: "max_ms", Class: Latency, Across: ByMax}, {Name: "nan_ms", Class: Latency}, {Name: "sut_cpu_cores", Class: CPU}}
	with := func(more ...Metric) []Metric { return append(slices.Clone(load), more...) }
	s := &Schema{
		Targets: []Target{{Name: "nginx", Metrics: map[string][]Metric{"latency": {{Name: "accepts", Class: Count, Across: BySum}}}},
			{Name: "haproxy"}, {Name: "ours", Unsupported: map[string]string{"fleet": "one process only"}}, {Name: "gone", Missing: "no program gone"}},
		Stages: []Stage{{Name: "throughput", Scenarios: []string{"h1-small"}}, {Name: "again", Scenarios: []string{"h1-small"}},
			{Name: "fixed", Scenarios: []string{"latency", "churn", "slowloris", "faults", "fleet"}},
			{Name: "few", Scenarios: []string{"few"}, Targets: []string{"nginx", "ours"}}},
		Scenarios: map[string]*Scenario{
			"h1-small": {Metrics: load, Phases: []string{"measure"}},
			"few":      {Metrics: load, Phases: []string{"measure"}},
			"latency":  {Metrics: load, Phases: []string{"measure"}, Events: []string{"oom", "exit"}},
			"churn":    {Metrics: with(Metric{Name: "changes", Class: Count}), Phases: []string{"churn"}, Events: []string{"oom", "exit"}},
			"slowloris": {Metrics: load, Phases: []string{"load", "attack"}, Series: []Metric{{Name: "sut_rss_mib"}, {Name: "empty_mib"}, {Name: "p99_ms", Class: Latency}},
				Loads: map[string][]Metric{"honest": {{Name: "p99_ms", Class: Latency}, {Name: "failed", Class: Count, Across: BySum}}}, Answers: []string{"", "honest"}, Events: []string{"oom", "exit", "unwatched"}},
			"faults": {Metrics: with(Metric{Name: "sut_rss_mib_max", Across: ByMax}), Phases: []string{"before", "fault", "after"}, Axes: []Axis{{"fault", []any{"latency", "blackhole"}}}},
			"fleet": {Metrics: load, Phases: []string{"measure"}, Axes: []Axis{{"pods", []any{2.0, 6.0}}},
				Replicas: map[string][]Metric{"pod": {{Name: "cpu_cores_mean", Class: CPU}, {Name: "by_worker", List: true}}}},
		},
		Params: map[string]Param{"in_flight": {Value: 256}, "zero": {Value: 0}, "steps": {Value: []any{500, 1000, 2000}}, "name": {Value: "x"},
			"knobs": {Value: map[string]any{"window": 65536, "mode": "fast"}}, "rate": {Type: TypeOfKind(Number), Known: AtStage}, "token": {Value: "hunter2", Secret: true}},
		Names: []Name{{Name: "dir", Type: TypeOfKind(Text), In: AtRun | AtLive}, {Name: "cpus.sut", Type: ListOf(TypeOfKind(Number)), In: AtRun | AtLive},
			{Name: "backends.web.address", Type: TypeOfKind(Text), In: AtRun | AtLive}, {Name: "backends.web.addresses", Type: ListOf(TypeOfKind(Text)), In: AtRun | AtLive},
			{Name: "host.cpus", Value: 8, In: Always}},
		Functions: []Function{{Name: "port", In: AtRun | AtLive, Args: []Type{TypeOfKind(Text)}, Result: TypeOfKind(Number), Names: []string{"http", "https"}}},
	}
	return s, fixtureData(s)
}

func fixtureData(s *Schema) *Data {
	ix, err := newIndex(s)
	if err != nil {
		panic(err)
	}
	d := &Data{Cells: map[Coord]*Cell{}}
	for i, c := range ix.cells {
		if c.Target == "haproxy" && c.Scenario == "latency" || ix.unsupported(c) != "" {
			continue // never ran
		}
		cell := &Cell{Planned: 3}
		for r := range 3 {
			if c.Scenario == "slowloris" && r > 0 {
				cell.Planned = 1
				continue
			}
			cell.Runs = append(cell.Runs, fixtureRun(s.Scenarios[c.Scenario], c, i, r))
		}
		d.Cells[c] = cell
	}
	return d
}

func fixtureRun(sc *Scenario, c Coord, i, r int) *Run {
	f := float64(10*(i+1) + r)
	m := Numbers{"req_per_s": 1000 * f, "requests": 1000, "failed": 0, "slow_over_1s": 0, "p50_ms": f / 10, "p99_ms": 4, "p99_clean_ms": 3, "max_ms": 20,
		"nan_ms": math.NaN(), "changes": 7, "sut_rss_mib_max": 50, "sut_cpu_cores": 1.5}
	if c.Scenario == "churn" && r == 1 {
		delete(m, "max_ms")
	}
	if c.Target == "nginx" && c.Scenario == "latency" {
		m["accepts"] = 5
	}
	run := &Run{Round: 1, Repeat: r + 1, Metrics: m, Phases: map[string]*Window{}, Loads: map[string]*Window{}}
	at := atHand{map[string]*Series{}, map[string][]Event{"exit": {{At: 12, Process: "nginx", Detail: "status 1"}}, "oom": {}}}
	run.Samples = at
	for j, p := range sc.Phases {
		run.Phases[p] = &Window{Start: float64(60 * j), Seconds: 60, Metrics: Numbers{"p50_ms": float64(j*20 + 1), "p99_ms": 9, "sut_rss_mib_max": 40},
			Loads: map[string]*Window{"honest": {Metrics: Numbers{"p99_ms": float64(5 + j)}}}}
	}
	for l := range sc.Loads {
		run.Loads[l] = &Window{Metrics: Numbers{"p99_ms": 6, "failed": 0}, Answers: map[string]float64{"web-1": 20, "(other)": 1}}
	}
	if sc.Answers != nil {
		run.Answers = map[string]float64{"web-0": 10, "web-1": 30}
	}
	rss := &Series{}
	for t := range 120 { // a second phase from 60 s on
		rss.T, rss.V = append(rss.T, float64(t)+0.5), append(rss.V, 100+2*float64(t%60)+float64(t%2))
	}
	for _, x := range sc.Series {
		at.series[x.Name] = &Series{}
	}
	if sc.Series != nil {
		at.series["sut_rss_mib"], at.series["p99_ms"] = rss, rss
	}
	if sc.Replicas != nil {
		var pods []map[string]any
		for k := range 6 {
			cpu := 0.0
			if k == 0 {
				cpu = 6
			}
			pods = append(pods, map[string]any{"cpu_cores_mean": cpu, "by_worker": []float64{4, float64(k)}})
		}
		run.Replicas = func() map[string][]map[string]any { return map[string][]map[string]any{"pod": pods} }
	}
	return run
}

// atHand are samples that need not be read; a kind that nothing watched is not in events.
type atHand struct {
	series map[string]*Series
	events map[string][]Event
}

func (a atHand) Series(name string) (*Series, error) { return a.series[name], nil }

func (a atHand) Events(kind string) ([]Event, bool, error) {
	e, watched := a.events[kind]
	return e, watched, nil
}

func coordOf(t testing.TB, ix *index, at string) Coord {
	t.Helper()
	if at == "" {
		return Coord{}
	}
	for _, c := range ix.cells {
		if c.String() == at {
			return c
		}
	}
	t.Fatalf("no cell %s", at)
	return Coord{}
}

func newCompiler(t testing.TB) (*Compiler, *Data) {
	t.Helper()
	s, d := fixture()
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

func runtimeValues() Values {
	return Values{Names: map[string]any{"dir": "/run/x", "cpus.sut": []int{0, 1}, "backends.web.address": "127.0.0.1:8080", "params.rate": 1500.0,
		"backends.web.addresses": []string{"127.0.0.1:8080"}},
		Call: func(name string, args []any) (any, error) {
			if args[0] == "http" {
				return 8080, nil
			}
			return nil, fmt.Errorf("%s(%v): not listening", name, args[0])
		}}
}
