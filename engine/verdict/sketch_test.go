package verdict

import (
	"context"
	"testing"
)

// The verdicts of the plans that the language is for compile, with their cases, lets and gates.
func TestSketches(t *testing.T) {
	load := []Metric{{Name: "failed", Class: Count, Across: BySum}, {Name: "p50_ms", Class: Latency}, {Name: "p99_ms", Class: Latency}, {Name: "p99_clean_ms", Class: Latency}, {Name: "req_per_s", Class: Rate}}
	more := func(names ...string) []Metric {
		out := append([]Metric{}, load...)
		for _, n := range names {
			out = append(out, Metric{Name: n})
		}
		return out
	}
	targets := func(names ...string) (out []Target) {
		for _, n := range names {
			out = append(out, Target{Name: n})
		}
		return out
	}
	attack := &Scenario{Metrics: more("attack_opened", "attack_closed"), Phases: []string{"load", "attack"}, Events: []string{"oom", "exit"}, Series: []Metric{{Name: "sut_rss_mib"}}}
	plain := &Scenario{Metrics: load, Phases: []string{"measure"}, Events: []string{"oom", "exit"}}
	faults := &Scenario{Metrics: more("max_elapsed_ms", "to_web_connections_last", "sut_fds_last", "sut_fds_max", "sut_rss_mib_last", "sut_rss_mib_max"), Phases: []string{"before", "fault", "after"},
		Events: []string{"oom", "exit"}, Axes: []Axis{{"fault", []any{"latency", "bandwidth", "reset", "stall", "blackhole"}}}}
	soak := &Scenario{Metrics: load, Phases: []string{"measure"}, Series: []Metric{{Name: "sut_rss_mib"}, {Name: "sut_fds"}}}
	gw := &Scenario{Metrics: more("cv_connections", "cv_workers", "flow_control_paused"), Phases: []string{"measure"}}

	capacity := &Schema{Targets: targets("squid", "planrun-forward"), Stages: []Stage{{Name: "all", Scenarios: []string{"sweep", "ramp", "slowloris", "slow-readers", "soak", "faults"}}},
		Scenarios: map[string]*Scenario{"sweep": plain, "ramp": plain, "slowloris": attack, "slow-readers": attack, "soak": soak, "faults": faults}}
	round2 := &Schema{Targets: targets("nginx", "haproxy"), Scenarios: map[string]*Scenario{"h1-small": plain, "latency": plain, "churn": plain, "config": plain},
		Stages: []Stage{{Name: "throughput", Scenarios: []string{"h1-small"}}, {Name: "throughput-reversed", Scenarios: []string{"h1-small"}}, {Name: "fixed-rate", Scenarios: []string{"latency", "churn", "config"}}}}
	threads := &Schema{Targets: targets("gateway"), Params: map[string]Param{"workers": {Value: 1}}, Stages: []Stage{{Name: "suites", Rounds: 3, Scenarios: []string{"baseline", "trigger", "windows", "worker-balance", "worker-balance-control"}}},
		Scenarios: map[string]*Scenario{"baseline": gw, "trigger": gw, "windows": gw, "worker-balance": gw, "worker-balance-control": gw}}
	crash := []Case{{`events("oom").size() > 0`, "oom", Fail}, {`events("exit").size() > 0`, "crashed", Fail}}
	rest := func(cs []Case, more ...Case) []Case { return append(append([]Case{}, cs...), more...) }

	for name, x := range map[string]struct {
		schema *Schema
		defs   []Definition
	}{
		"proxy capacity": {capacity, []Definition{
			{Where: `scenario in ["sweep", "ramp"]`, Each: "run", Cases: rest(crash, Case{"", "survived", Pass}), Gate: "fail-only", GateWhere: `target == "planrun-forward"`},
			{Where: `scenario in ["slowloris", "slow-readers"]`, Each: "run", Gate: "fail-only", GateWhere: `target == "planrun-forward"`,
				Let: []Let{{"window", `phase("attack").series("sut_rss_mib").after(max(10, phase("attack").seconds / 4))`}, {"fit", `window.fit()`}},
				Cases: rest(crash, Case{`attack_opened > 0 && attack_closed >= attack_opened / 10`, "shedding", Pass}, Case{`window.size() < 5 || window.seconds() < 20`, "inconclusive", Inconclusive},
					Case{`fit.r2 >= 0.8 && fit.rise > 32 && fit.rise > window.mean() / 4`, "unbounded-growth", Fail}, Case{"", "bounded", Pass})},
			{Where: `scenario == "soak"`, Each: "run", Let: []Let{{"memory", `phase("measure").series("sut_rss_mib").after(60)`}, {"descriptors", `phase("measure").series("sut_fds").after(60)`}},
				Cases: []Case{{`memory.seconds() < 300`, "inconclusive", Inconclusive}, {`memory.climbs() || descriptors.climbs()`, "possible-leak", Fail}, {"", "no-leak", Pass}}},
			{Where: `scenario == "faults"`, Each: "run", Cases: []Case{{`events("exit").size() > 0`, "crashed", Fail}, {`phase("fault").max_elapsed_ms > 11000`, "hang", Fail},
				{`to_web_connections_last > 0`, "leak", Fail}, {`phase("after").sut_fds_last > phase("before").sut_fds_max`, "leak", Fail}, {"", "bounded", Pass}}},
			{Where: `scenario == "faults" && matrix.fault == "blackhole"`, Each: "run", Pass: `phase("after").sut_rss_mib_last <= 1.25 * axis("fault", "latency").phase("before").sut_rss_mib_max + 32`},
		}},
		"round 2": {round2, []Definition{
			{Where: `scenario == "churn"`, Pass: `failed == 0`},
			{Where: `scenario == "config"`, Pass: `p99_clean_ms <= 1.5 * scenario("latency").p99_clean_ms`},
			{Where: `stage == "throughput"`, Pass: `within(req_per_s, stage("throughput-reversed").req_per_s, percent(4))`},
		}},
		"thread concentration": {threads, []Definition{
			{Each: "round", Pass: `scenario("trigger").cv_connections >= 2.0 * scenario("baseline").cv_connections`},
			{Each: "round", Pass: `within(scenario("windows").cv_connections, scenario("trigger").cv_connections, percent(5))`},
			{Each: "round", Pass: `scenario("windows").flow_control_paused < scenario("trigger").flow_control_paused`},
			{Each: "round", When: `params.workers >= 2`, Pass: `scenario("worker-balance").cv_workers < 0.8 * scenario("worker-balance-control").cv_workers`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewCompiler(x.schema)
			if err != nil {
				t.Fatal(err)
			}
			rules, ps := NewRules(c, x.defs)
			if ps != nil {
				t.Fatal(ps)
			}
			for _, j := range rules.Judge(context.Background(), &Data{}, Options{}) { // nothing ran: nothing passes
				if j.Outcome != Inconclusive && j.Outcome != NotJudged {
					t.Errorf("%s of %s without data: %s", j.Text, j.At, short(j))
				}
			}
		})
	}
}

// Options.Gate overrides; what judged nothing is named.
func TestGates(t *testing.T) {
	s, d := fixture()
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	defs := []Definition{
		{Name: "ours only", Where: `scenario == "churn"`, Pass: `target != "nginx"`, Gate: "true", GateWhere: `target == "ours"`},
		{Name: "no gate", Where: `scenario == "churn"`, Pass: "failed > 0"},
		{Name: "twice", Where: `scenario == "churn" && target == "ours"`, Pass: "failed == 0", Gate: "fail-only"},
		{Name: "twice", Where: `scenario == "fleet" && target == "ours"`, Pass: "failed == 0", Gate: "fail-only"},
	}
	rules, ps := NewRules(c, defs)
	if ps != nil {
		t.Fatal(ps)
	}
	for _, x := range []struct {
		gate string
		want Summary
		exit int
	}{
		{"", Summary{Passed: 2, Unsupported: 2, Nothing: []string{"twice"}}, 3},
		{"none", Summary{}, 0},
		{"all", Summary{Passed: 3, Failed: 4, Unsupported: 4, Nothing: []string{"twice"}}, 1},
		{"nginx", Summary{Failed: 2}, 1},
		{"gone", Summary{Unsupported: 2, Nothing: []string{"ours only", "no gate"}}, 3},
	} {
		got := rules.Summarize(rules.Judge(context.Background(), d, Options{Gate: x.gate}))
		if got.Exit() != x.exit || got.Passed != x.want.Passed || got.Failed != x.want.Failed || got.Unsupported != x.want.Unsupported || len(got.Nothing) != len(x.want.Nothing) {
			t.Errorf("--gate %q: %+v exit %d, want %+v exit %d", x.gate, got, got.Exit(), x.want, x.exit)
		}
	}
	for _, cell := range c.ix.cells { // what --only left out does not count
		if cell.Scenario == "fleet" {
			d.Cells[cell] = &Cell{State: LeftOut, Reason: "by --only"}
		}
	}
	js := rules.Judge(context.Background(), d, Options{})
	if got := rules.Summarize(js); got.Exit() != 0 {
		t.Errorf("%+v", got)
	}
	for _, j := range js {
		if j.At.Scenario == "fleet" {
			t.Errorf("%s was left out, but judged", j.At)
		}
	}
}
