package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/load"
)

// A fixture makes results that hang together: cells, their runs, and what was recorded of them.
type fixture struct {
	in   Input
	data map[string]*record.Data
}

var begun = time.Date(2026, 11, 30, 6, 56, 0, 0, time.UTC)

func newFixture() *fixture {
	f := &fixture{data: map[string]*record.Data{}}
	timing := func(name, unit string, better series.Better) series.Desc {
		return series.Desc{Name: name, Unit: unit, Better: better, Across: series.Median, Class: series.Timing}
	}
	sum := series.Desc{Better: series.Lower, Across: series.Sum, Class: series.Count}
	f.in.Results = &record.Results{
		Version: record.Version, Plan: "synthetic", About: "Two proxies and what can go wrong.", Complete: true,
		Descs: map[string]series.Desc{
			"req_per_s":        timing("req_per_s", "req/s", series.Higher),
			"p50_ms":           timing("p50_ms", "ms", series.Lower),
			"p99_ms":           timing("p99_ms", "ms", series.Lower),
			"sut_cpu_cores":    timing("sut_cpu_cores", "cores", series.Lower),
			"requests":         {Across: series.Sum, Class: series.Count},
			"failed":           sum,
			"slow_over_1s":     sum,
			"sut_rss_peak_mib": {Unit: "MiB", Better: series.Lower, Across: series.Max, Class: series.Count},
		},
	}
	f.in.Environment = &record.Environment{
		Version: record.Version, Plan: "plans/synthetic.yaml", Start: begun, Command: []string{"planrun", "plans/synthetic.yaml", "--set", "rate=200 /s"},
		Planrun: "v0.1.0 (abc1234)", Go: "go1.26", Hostname: "bench-1", OS: "linux", Kernel: "6.1.0", CPUModel: "Example CPU", CPUs: 4, NUMA: 1, MemoryMiB: 15987, Virtual: "kvm",
		Sysctls: map[string]string{"net.core.somaxconn": "4096", "net.ipv4.ip_local_port_range": "32768 60999"},
		Limits:  map[string]string{"open files": "20000"},
		Layout:  map[string][]int{"sut": {0, 1}, "load": {2, 3}},
		Offers:  map[string]string{"cgroup limits": "no: not the right to make cgroups", "nftables": "yes"},
	}
	f.in.Series = func(id, name string) (t, v []float64, err error) {
		d, ok := f.data[id]
		if !ok {
			return nil, nil, fmt.Errorf("no such run")
		}
		for _, p := range d.Points {
			if p.Series == name {
				t, v = append(t, p.T), append(v, p.V)
			}
		}
		return t, v, nil
	}
	f.in.Events = func(id string) ([]record.Event, []string, error) {
		d, ok := f.data[id]
		if !ok {
			return nil, nil, fmt.Errorf("no such run")
		}
		return d.Events, d.Notes, nil
	}
	return f
}

// A cellSpec makes a cell with runs of the given rates; p99 is 1000/rate, so that a faster target is also quicker.
type cellSpec struct {
	stage, scenario, target string
	matrix                  []record.Axis
	status                  record.Status
	reason                  string
	rates                   []float64
	open                    bool
	failed                  load.Counts // added to the last run
	tainted                 string
	guards                  []record.Guard
	phases                  []record.Phase
}

func (f *fixture) cell(s cellSpec) *record.Cell {
	r := f.in.Results
	if s.status == "" {
		s.status = record.Done
	}
	if s.phases == nil {
		s.phases = []record.Phase{{Name: "warm-up", Kind: "warm-up", End: 1}, {Name: "measure", Kind: "measure", Start: 1, End: 6, Recorded: true, Headline: true}}
	}
	c := record.Cell{Coord: record.Coord{Stage: s.stage, Scenario: s.scenario, Target: s.target, Matrix: s.matrix}, Status: s.status, Reason: s.reason}
	metrics := map[string][]float64{}
	for i, rate := range s.rates {
		coord := c.Coord
		coord.Round, coord.Repeat = 1, i+1
		run := f.run(coord, rate, s, i == len(s.rates)-1)
		c.Runs = append(c.Runs, run.ID)
		for name, v := range run.Metrics[""].All() {
			metrics[name] = append(metrics[name], v)
		}
	}
	if len(s.rates) > 0 {
		c.Metrics = record.CellWindows{"": new(record.CellWindow)}
	}
	for name, v := range metrics {
		value := record.Value{Value: stats.Across(r.Descs[name].Across, v), Runs: v}
		if r.Descs[name].Class == series.Timing {
			value.Tainted = s.tainted
		}
		c.Metrics[""].Set(name, value)
	}
	r.Cells = append(r.Cells, c)
	return &r.Cells[len(r.Cells)-1]
}

// measured names the last headline phase, or the last one.
func measured(phases []record.Phase) string {
	name := phases[len(phases)-1].Name
	for _, p := range phases {
		if p.Headline {
			name = p.Name
		}
	}
	return name
}

func (f *fixture) run(coord record.Coord, rate float64, s cellSpec, last bool) *record.Run {
	spec := load.Spec{Name: "small", Connections: 16, Path: "/small", Reuse: true}
	if s.open {
		spec.Rate = []load.RateStep{{From: 2000, To: 2000}}
	}
	end := s.phases[len(s.phases)-1].End
	counts := load.Counts{Due: int64(5 * rate), OK: int64(5 * rate), Sent: int64(5 * rate)}
	if last {
		counts.Non2xx, counts.Errors, counts.Generator = s.failed.Non2xx, s.failed.Errors, s.failed.Generator
		counts.OK -= failedOf(counts) + counts.Generator
	}
	run := &record.Run{
		Version: record.Version, ID: fmt.Sprintf("%03d", len(f.in.Runs)+1), Coord: coord, Status: record.Done, Start: begun, Seconds: end,
		Phases: s.phases, Guards: append([]record.Guard{{Name: "verified", OK: true}, {Name: "clock-step", OK: true}}, s.guards...),
		Checks:    []record.Guard{{Name: "reconcile", OK: true}},
		Loads:     []record.Load{{Name: "small", Headline: true, Spec: spec, Workers: 2, CPUs: []int{2, 3}, Final: true, Reported: 2, Totals: map[string]load.Counts{"warm-up": {Due: 100, OK: 100, Sent: 100}, measured(s.phases): counts}}},
		Processes: []record.Process{{Name: coord.Target, Role: "sut", CPUs: []int{0, 1}, WantCPUs: []int{0, 1}}, {Name: "load", Role: "load", CPUs: []int{2, 3}, WantCPUs: []int{2, 3}}},
		Metrics: record.WindowsOf(map[string]map[string]float64{"": {
			"req_per_s": rate, "p50_ms": 250 / rate, "p99_ms": 1000 / rate, "sut_cpu_cores": 1.25, "requests": 5 * rate,
			"failed": float64(failedOf(counts)), "slow_over_1s": 0, "sut_rss_peak_mib": 42.3,
		}}),
	}
	d := &record.Data{Run: run}
	for sec := range int(end) {
		d.Points = append(d.Points,
			series.Point{T: float64(sec) + 0.2, Series: "p99_ms", V: 1000 / rate},
			series.Point{T: float64(sec) + 0.3, Series: "sut_rss_mib", V: 40 + float64(sec)})
	}
	d.Points = slices.DeleteFunc(d.Points, func(p series.Point) bool { return p.Series == "sut_rss_mib" && p.T > 3 && p.T < 4 })
	f.in.Runs = append(f.in.Runs, run)
	f.data[run.ID] = d
	return run
}

// waits has requests of a run wait for a connection, so many in each second from 2.1 s on; in the first of them alone some are sent.
func (f *fixture) waits(run int, waited ...int64) {
	r := f.in.Runs[run-1]
	r.Metrics[""].Set("lag_max_ms", 2000)
	sum := 0.0
	for _, n := range waited {
		sum += float64(n)
	}
	for _, window := range []string{"load/small", "phase/" + measured(r.Phases) + "/load/small"} {
		r.Metrics[window] = record.WindowOf(map[string]float64{"waited": sum})
	}
	var out []record.WaitedSecond
	for i, n := range waited {
		s := record.WaitedSecond{Load: "small", T: 2.1 + float64(i), Phase: measured(r.Phases), Waited: n, Longest: 2*time.Second - time.Duration(i)*time.Millisecond}
		if i == 0 {
			s.Sent = 200
		}
		if n > 0 {
			out = append(out, s)
		}
	}
	others := f.in.Waited
	f.in.Waited = func(id string) ([]record.WaitedSecond, error) {
		switch {
		case id == r.ID:
			return out, nil
		case others == nil:
			return nil, nil
		}
		return others(id)
	}
}

func around(v float64) []float64 { return []float64{v, 1.01 * v, 0.99 * v} }

const hostile = "<b>x</b> | `y`\n## [^1] $z$ \u202e\x1b[31m"

// rich has every outcome, guard, gap and oddity that a report must say.
func rich() *fixture {
	f := newFixture()
	r := f.in.Results
	r.Exit, r.ExitWhy = 1, "the gate \u201cp99 stays low\u201d failed"
	r.Targets = []record.Target{
		{Name: "nginx", About: "nginx as installed", Program: record.Program{Path: "/usr/sbin/nginx", Version: "nginx version: nginx/1.22.1", SHA256: "0123abcd"}, Knobs: []record.Knob{{Name: "workers", Value: "2"}}},
		{Name: "nginx-tuned", Knobs: []record.Knob{{Name: "proxy_buffer_size", Value: "64k", Why: "fewer reads and writes"}}, CannotEqual: []string{"its log format | cannot be changed"}, Program: record.Program{Version: "nginx version: nginx/1.22.1\nbuilt with OpenSSL"}},
		{Name: "haproxy", Program: record.Program{Missing: "no program haproxy on PATH"}},
		{Name: hostile, About: hostile, Unsupported: map[string]string{"slow-origin": "it has no <relay>"}},
	}
	r.Scenarios = []record.Scenario{
		{Name: "h1-small", About: "closed loop", Loads: []string{"16 connections, closed loop, GET /small over h1"}},
		{Name: "latency"},
		{Name: "slow-origin", About: "a fault"},
	}
	r.Stages = []record.Stage{
		{Name: "first", Round: 1, Start: begun, Order: "blocked", Params: map[string]any{"rate": 12500.0, "paths": []any{"/a", "/b"}}, Tainted: map[string]string{"rate": "the load generator's CPUs were 99 % busy"}},
		{Name: "reversed", Round: 1, Start: begun.Add(time.Minute), Order: "random", Seed: 42},
	}
	cpu := record.Guard{Name: "generator-cpu", Taints: "timing", Message: "its CPUs were 99 % busy, above 90 %", Load: "small"}
	size := func(v string) []record.Axis { return []record.Axis{{Name: "size", Value: v}} }
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: "nginx", matrix: size("4k"), rates: around(25000)})
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: "nginx-tuned", matrix: size("4k"), rates: around(30000)})
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: "haproxy", matrix: size("4k"), status: record.Unsupported, reason: "no program haproxy on PATH"})
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: hostile, matrix: size("4k"), rates: around(25100)})
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: "nginx", matrix: size("64k"), rates: around(9000)})
	f.cell(cellSpec{stage: "first", scenario: "h1-small", target: "nginx-tuned", matrix: size("64k"), rates: []float64{9100, 8800, 9300}})
	f.cell(cellSpec{stage: "reversed", scenario: "h1-small", target: "nginx", matrix: size("4k"), rates: around(24500)})
	f.cell(cellSpec{stage: "reversed", scenario: "h1-small", target: "nginx-tuned", matrix: size("4k"), rates: around(29800)})
	f.cell(cellSpec{stage: "first", scenario: "latency", target: "nginx", open: true, rates: []float64{2000}, tainted: "the load generator's CPUs were 99 % busy, above 90 %", guards: []record.Guard{cpu}})
	f.cell(cellSpec{stage: "first", scenario: "latency", target: "nginx-tuned", open: true, rates: []float64{1990, 2001}, failed: load.Counts{Non2xx: map[int]int64{502: 25, 503: 1}, Errors: map[string]int64{"reset": 30, "connect": 2}, Generator: 4}})
	f.cell(cellSpec{stage: "first", scenario: "latency", target: "haproxy", open: true, status: record.Unsupported, reason: "no program haproxy on PATH"})
	f.cell(cellSpec{stage: "first", scenario: "latency", target: hostile, open: true, status: record.Failed, reason: "install: not ready within 10 s; its log ends:\nerror: port | in use\n```"})
	f.cell(cellSpec{stage: "first", scenario: "slow-origin", target: "nginx", open: true, status: record.Interrupted})
	f.cell(cellSpec{stage: "first", scenario: "slow-origin", target: "nginx-tuned", open: true, status: record.Unmet, reason: "`failed == 0` does not hold: failed = 3"})
	c := &r.Cells[8] // latency / nginx
	c.Missing = map[string]string{"p99_9_ms": "fewer than 10,000 requests"}
	run := f.in.Runs[len(f.in.Runs)-3]
	run.SetHistory = true
	bad := f.in.Runs[len(f.in.Runs)-1]
	bad.Examples = []string{"connect: connection refused", "status 502: <html>|`bad`"}
	bad.Actions = []record.Action{{Kind: "http", Where: "plan.yaml:40:9", Start: 2.5, Error: "PUT /config: 500"}}
	bad.Guards = append(bad.Guards, record.Guard{Name: "foreign-cpu", Message: "12 % of the machine went to others"}, record.Guard{Name: "novel", Taints: "work", Message: "a guard without words"})
	bad.LeftOut = []record.LeftOut{{T: 1, Why: "the first second"}, {T: 4, Why: "the load generator stalled for 61ms"}}
	bad.Processes[0].Died = "signal: killed"
	bad.Facts.Harness = []string{"sampling the host: no such file"}
	bad.Facts.Faults = []record.Fault{{Relay: "slow_web", Toxic: "latency", Phase: "measure", Start: 2, End: 4, Says: "latency of 20ms", Connections: 16, Bytes: 123456, Unit: "ms", Asked: 20, Measured: 20.8, Of: 900},
		{Relay: "slow_web", Toxic: "reset-after", Start: 4, End: 4.5, Connections: 1200, Resets: 1100, Closed: 3},
		{Kind: "drop", What: "drop of 5 % of the packets to web", Action: "drop", Phase: "measure", Start: 2.5, End: 4, Share: 0.05, Packets: 4120, Dropped: 208},
		{Kind: "pause", What: "pause of web/0", Action: "pause", Phase: "measure", Start: 4, End: 5, StoppedS: 0.3, Gone: "web/0 was running again after 0.35 s, though the plan had not let it"}}
	bad.Checks = append(bad.Checks, record.Guard{Name: "files", Message: "3 lines of series.jsonl could not be written"})
	f.data[bad.ID].Events = []record.Event{{T: 3.2, Kind: "exit", Message: "nginx-tuned/0: signal: killed"}, {T: 1, Kind: "phase", Message: "measure"}}
	f.data[bad.ID].Notes = []string{"the last line of events.jsonl was torn"}
	early := *bad
	early.ID, early.Status, early.Reason, early.Where = "ended", record.Aborted, "`failed > 10` held for 10 s", "plan.yaml:50:11"
	early.Coord.Repeat = 3
	early.LeftOut, early.Guards, early.Checks, early.Loads, early.Processes, early.Facts, early.Actions = nil, nil, nil, nil, nil, record.Facts{}, nil
	f.in.Runs = append(f.in.Runs, &early)
	f.data["ended"] = &record.Data{Run: &early}
	r.Cells[9].Runs = append(r.Cells[9].Runs, "ended")
	f.in.Environment.LeftOut = map[string]string{"reversed/haproxy/h1-small[size=4k]": "--skip haproxy"}
	r.Complete = false
	r.Undone = []string{"process 4242 (nginx) could not be ended: not permitted"}
	r.Verdicts = verdicts()
	r.Sections = []record.Section{
		{Kind: "table", Title: "Throughput, requests/s", Cells: []int{0, 1, 2, 3, 4, 5}, Rows: []string{"scenario"}, Columns: []string{"target"}, Metrics: []string{"req_per_s"},
			Ratios: []record.Ratio{{Of: "nginx-tuned", To: record.Against{Target: "nginx"}}, {Of: hostile, To: record.Against{Best: []string{"nginx", "nginx-tuned"}}}, {Of: "haproxy", To: record.Against{Target: "nginx"}}}},
		{Kind: "verdicts"},
		{Kind: "table", Title: "In detail", Cells: []int{0, 1, 2, 3, 8, 9, 10, 11, 12}, Rows: []string{"scenario", "target"}, Metrics: []string{"req_per_s.min", "req_per_s", "req_per_s.cv", "req_per_s.n", "p99_ms", "p99_9_ms", "failed", "sut_rss_peak_mib", "phase/fault/p99_ms"},
			Ratios: []record.Ratio{{Of: "nginx-tuned", To: record.Against{Target: "nginx"}, Metrics: []string{"p99_ms", "failed", "sut_rss_peak_mib"}}}},
		{Kind: "table", Title: "By repeat", Cells: []int{0, 1}, Rows: []string{"target", "repeat"}, Metrics: []string{"req_per_s"}},
		{Kind: "table", Title: "Where each target loses", Cells: []int{0, 1, 2, 3, 4, 5, 8, 9}, Losses: &record.Against{Best: []string{"nginx", "nginx-tuned"}}},
		{Kind: "chart", Title: "p99_ms", Cells: []int{0, 1}},
		{Kind: "chart", Title: "sut_rss_mib", Cells: []int{8, 12}},
		{Kind: "chart", Title: "req_per_s", As: "bars", Cells: []int{4, 5}},
		{Kind: "chart", Title: "gc_pauses", Cells: []int{0}},
		{Kind: "table", Title: "Of nothing"},
	}
	return f
}

func verdicts() []record.Judgement {
	at := func(stage, scenario, target string) record.Coord {
		return record.Coord{Stage: stage, Scenario: scenario, Target: target}
	}
	p99 := []record.Operand{{Text: "p99_ms", Value: "7.31"}}
	return []record.Judgement{
		{Verdict: "p99 stays low", Coord: at("first", "latency", "nginx"), Outcome: record.Inconclusive, Reason: "a guard: the load generator's CPUs were 99 % busy, above 90 %", Expression: "p99_ms < 5", Operands: p99, N: 1, Gate: "true"},
		{Verdict: "p99 stays low", Coord: at("first", "latency", "nginx-tuned"), Outcome: record.Fail, Expression: "p99_ms < 5", Operands: p99, N: 2, Gate: "true", Broke: "3.0 s of repeat 2",
			Runs: []record.RunJudgement{{Round: 1, Repeat: 1, Outcome: record.Pass, Operands: []record.Operand{{Text: "p99_ms", Value: "4.1"}}}, {Round: 1, Repeat: 2, Outcome: record.Fail, Operands: p99, Reason: "noisy"}}},
		{Verdict: "p99 stays low", Coord: at("first", "latency", "haproxy"), Outcome: record.NotSupported, Reason: "no program haproxy on PATH", Expression: "p99_ms < 5", Gate: "true"},
		{Verdict: "p99 stays low", Coord: at("first", "latency", hostile), Outcome: record.Error, Reason: "install: not ready", Expression: "p99_ms < 5", Gate: "fail-only"},
		{Verdict: "kind | of <load>", Coord: at("first", "h1-small", "nginx"), Outcome: record.Pass, Label: "steady", Expression: "a || b\n  && c == `x`", Operands: []record.Operand{{Text: "a || b", Value: "true"}}, N: 3},
		{Verdict: "only where faults are", Outcome: record.NotJudged, Expression: "has_fault", Reason: "`when` is false"},
		{Verdict: "same in both orders", Coord: at("first", "h1-small", "nginx"), Outcome: record.Pass, Expression: "within(req_per_s, stage(\"reversed\").req_per_s, percent(4))", N: 6},
	}
}
