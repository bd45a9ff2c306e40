package verdict

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// judged compiles and judges one definition over the fixture, after change has been made to it.
func judged(t *testing.T, def Definition, change func(*Schema, *Data)) (map[string]Judgement, Summary) {
	t.Helper()
	s, d := fixture()
	if change != nil {
		change(s, d)
	}
	c, err := NewCompiler(s)
	if err != nil {
		t.Fatal(err)
	}
	def.Name = "it"
	rules, ps := NewRules(c, []Definition{def})
	if ps != nil {
		t.Fatal(ps)
	}
	js := rules.Judge(context.Background(), d, Options{})
	out := map[string]Judgement{}
	for _, j := range js {
		if _, twice := out[j.At.String()]; twice {
			t.Errorf("two judgements of %s", j.At)
		}
		out[j.At.String()] = j
	}
	return out, rules.Summarize(js)
}

func short(j Judgement) string {
	out := string(j.Outcome)
	if j.Label != "" {
		out += " (" + j.Label + ")"
	}
	if j.Reason != "" {
		out += ": " + j.Reason
	}
	return out
}

func run(d *Data, stage, scenario, target, matrix string, i int) *Run {
	return d.Cells[Coord{stage, scenario, target, matrix}].Runs[i]
}

func TestJudge(t *testing.T) {
	const latency = `scenario == "latency" && target == "ours"`
	const tput = `stage == "throughput" && target == "ours"`
	broken := func(i int, metric string, v float64) func(*Schema, *Data) {
		return func(_ *Schema, d *Data) { run(d, "fixed", "latency", "ours", "", i).Metrics.(Numbers)[metric] = v }
	}
	taint := func(class TaintClass) func(*Schema, *Data) {
		return func(_ *Schema, d *Data) {
			r := run(d, "fixed", "latency", "ours", "", 1)
			r.Taints = append(r.Taints, Taint{Guard: "rate", Message: "97 % of the rate was sent", Class: class})
		}
	}
	for name, c := range map[string]struct {
		def    Definition
		change func(*Schema, *Data)
		at     string
		want   string // of the judgement, a prefix
		n      int
		exit   int
	}{
		"pass":                  {Definition{Where: latency, Pass: "failed == 0", Gate: "true"}, nil, lat, "pass", 3, 0},
		"fail":                  {Definition{Where: latency, Pass: "p99_ms < 1", Gate: "true"}, nil, lat, "fail", 3, 1},
		"fail, no gate":         {Definition{Where: latency, Pass: "p99_ms < 1"}, nil, lat, "fail", 3, 0},
		"counts are summed":     {Definition{Where: latency, Pass: "requests == 3000"}, nil, lat, "pass", 3, 0},
		"peaks are maxima":      {Definition{Where: latency, Pass: "max_ms == 99"}, broken(1, "max_ms", 99), lat, "pass", 3, 0},
		"never ran":             {Definition{Where: `scenario == "latency" && target == "haproxy"`, Pass: "failed == 0", Gate: "true"}, nil, "fixed/latency/haproxy", "inconclusive: no data", 0, 3},
		"never ran, fail-only":  {Definition{Where: `scenario == "latency" && target == "haproxy"`, Pass: "failed == 0", Gate: "fail-only"}, nil, "fixed/latency/haproxy", "inconclusive: no data", 0, 0},
		"unsupported":           {Definition{Where: `scenario == "fleet" && target == "ours"`, Pass: "failed == 0", Gate: "true"}, nil, "fixed/fleet/ours/pods=2", "unsupported: one process only", 0, 3},
		"missing program":       {Definition{Where: `scenario == "latency"`, Pass: "failed == 0"}, nil, "fixed/latency/gone", "unsupported: no program gone", 0, 0},
		"another cell's target": {Definition{Where: latency, Pass: `p99_ms <= scenario("fleet").axis("pods", 2).p99_ms`}, nil, lat, "unsupported: fixed/fleet/ours/pods=2 is unsupported", 3, 0},
		"install failed": {Definition{Where: latency, Pass: "failed == 0", Gate: "true"}, func(_ *Schema, d *Data) {
			d.Cells[Coord{"fixed", "latency", "ours", ""}] = &Cell{State: Failed, Reason: "nginx: exit status 1"}
		}, lat, "error: nginx: exit status 1", 0, 4},
		"another cell's install failed": {Definition{Where: latency, Pass: `target("nginx").failed == 0`}, func(_ *Schema, d *Data) {
			d.Cells[Coord{"fixed", "latency", "nginx", ""}] = &Cell{State: Failed, Reason: "exit status 1"}
		}, lat, "error: fixed/latency/nginx failed: exit status 1", 0, 0},
		"require did not hold": {Definition{Where: latency, Pass: "failed == 0"}, func(_ *Schema, d *Data) {
			r := run(d, "fixed", "latency", "ours", "", 1)
			r.Outcome, r.Reason = Inconclusive, "require: failed == 0 was false"
		}, lat, "inconclusive: run 2 of fixed/latency/ours: require: failed == 0 was false", 3, 0},
		"too few runs":         {Definition{Where: latency, Pass: "failed == 0"}, func(_ *Schema, d *Data) { d.Cells[Coord{"fixed", "latency", "ours", ""}].Planned = 4 }, lat, "inconclusive: too few runs: 3 of 4", 3, 0},
		"too few runs, fail":   {Definition{Where: latency, Pass: "failed > 0"}, func(_ *Schema, d *Data) { d.Cells[Coord{"fixed", "latency", "ours", ""}].Planned = 4 }, lat, "fail", 3, 0},
		"when":                 {Definition{Where: latency, When: "params.in_flight > 1000", Pass: "failed == 0", Gate: "true"}, nil, lat, "not judged: when is false: params.in_flight > 1000", 0, 3},
		"when holds":           {Definition{Where: latency, When: "params.in_flight < 1000", Pass: "failed == 0", Gate: "true"}, nil, lat, "pass", 3, 0},
		"when without a value": {Definition{Where: latency, When: "nan_ms < 1000", Pass: "failed == 0"}, nil, lat, "inconclusive: nan_ms", 3, 0},

		// guards
		"timing taints a latency":      {Definition{Where: latency, Pass: "p99_ms < 5", Gate: "true"}, taint(Timing), lat, "inconclusive: guard rate: 97 % of the rate was sent (p99_ms of fixed/latency/ours)", 3, 3},
		"timing taints CPU":            {Definition{Where: latency, Pass: "sut_cpu_cores > 5"}, taint(Timing), lat, "inconclusive: guard rate", 3, 0},
		"timing leaves counts":         {Definition{Where: latency, Pass: "failed == 0"}, taint(Timing), lat, "pass", 3, 0},
		"timing leaves a count fail":   {Definition{Where: latency, Pass: "failed > 0"}, taint(Timing), lat, "fail", 3, 0},
		"work taints counts":           {Definition{Where: latency, Pass: "failed == 0"}, taint(Work), lat, "inconclusive: guard rate", 3, 0},
		"work taints events":           {Definition{Where: latency, Pass: `events("oom").size() == 0`}, taint(Work), lat, "inconclusive: guard rate", 3, 0},
		"a dead target passes nothing": {Definition{Where: latency, Pass: "failed == 0"}, taint(Passes), lat, "inconclusive: guard rate", 3, 0},
		"a dead target fails":          {Definition{Where: latency, Pass: "failed > 0"}, taint(Passes), lat, "fail", 3, 0},
		"another cell is not tainted":  {Definition{Where: latency, Pass: `scenario("churn").p99_ms < 5`}, taint(Work), lat, "pass", 3, 0},
		"read by the absorbed side":    {Definition{Where: latency, Pass: `failed == 0 || p99_ms < 5`}, taint(Timing), lat, "inconclusive: guard rate", 3, 0},
		"a branch not taken":           {Definition{Where: latency, Pass: `failed == 0 ? true : p99_ms < 5`}, taint(Timing), lat, "pass", 3, 0},
		"a let that is not used":       {Definition{Where: latency, Let: []Let{{"lat", "p99_ms"}, {"f", "failed"}}, Pass: `f == 0`}, taint(Timing), lat, "pass", 3, 0},
		"a let that is used twice":     {Definition{Where: latency, Let: []Let{{"lat", "p99_ms"}}, Cases: []Case{{"lat > 100", "bad", Fail}, {"lat < 5", "good", Pass}}}, taint(Timing), lat, "inconclusive: guard rate", 3, 0},
		"a load that is not read": {Definition{Where: latency, Pass: "p99_ms < 5"}, func(_ *Schema, d *Data) {
			run(d, "fixed", "latency", "ours", "", 1).Taints = []Taint{{Guard: "rate", Class: Timing, Phase: "warm", Load: "x"}}
		}, lat, "inconclusive: guard rate", 3, 0}, // the headline may hold that load
		"a load out of the headline": {Definition{Where: latency, Pass: "p99_ms < 5"}, func(_ *Schema, d *Data) {
			run(d, "fixed", "latency", "ours", "", 1).Taints = []Taint{{Guard: "rate", Class: Timing, Load: "x", Aside: true}}
		}, lat, "pass", 3, 0},
		"each run: one tainted": {Definition{Where: latency, Each: "run", Pass: "p99_ms < 5"}, taint(Timing), lat, "inconclusive: 1 of 3 runs: guard rate", 3, 0},

		// cases
		"first case": {Definition{Where: latency, Cases: []Case{{"p99_ms > 3", "slow", Fail}, {"", "fast", Pass}}}, nil, lat, "fail (slow): p99_ms > 3", 3, 0},
		"the rest":   {Definition{Where: latency, Cases: []Case{{"p99_ms > 9", "slow", Fail}, {"", "fast", Pass}}}, nil, lat, "pass (fast)", 3, 0},
		"no case":    {Definition{Where: latency, Cases: []Case{{"p99_ms > 9", "slow", Fail}, {"p99_ms > 8", "slower", Fail}}}, nil, lat, "inconclusive: no case holds", 3, 0},
		"never falls through": {Definition{Where: latency, Cases: []Case{{"nan_ms > 3", "slow", Fail}, {"", "fast", Pass}}}, nil, lat,
			"inconclusive: whether it is slow cannot be said: nan_ms", 3, 0},
		"absorbed cannot pass":        {Definition{Where: latency, Cases: []Case{{"nan_ms > 3 || p99_ms < 5", "fast", Pass}, {"", "slow", Fail}}}, nil, lat, "inconclusive: nan_ms", 3, 0},
		"absorbed may fail":           {Definition{Where: latency, Cases: []Case{{"nan_ms > 3 || p99_ms < 5", "bad", Fail}, {"", "good", Pass}}}, nil, lat, "fail (bad)", 3, 0},
		"false though it absorbed":    {Definition{Where: latency, Cases: []Case{{"nan_ms > 3 && p99_ms > 5", "bad", Fail}, {"", "good", Pass}}}, nil, lat, "pass (good)", 3, 0},
		"a case that is inconclusive": {Definition{Where: latency, Cases: []Case{{"requests < 1000000", "too short", Inconclusive}, {"", "good", Pass}}}, nil, lat, "inconclusive (too short): requests < 1000000", 3, 0},

		// each: run
		"runs pass": {Definition{Where: latency, Each: "run", Pass: "requests == 1000", Gate: "true"}, nil, lat, "pass", 3, 0},
		"any fails": {Definition{Where: latency, Each: "run", Pass: "failed == 0", Gate: "true"}, broken(1, "failed", 1), lat, "fail: 1 of 3 runs", 3, 1},
		"any inconclusive": {Definition{Where: latency, Each: "run", Pass: "failed == 0"}, func(_ *Schema, d *Data) {
			delete(run(d, "fixed", "latency", "ours", "", 2).Metrics.(Numbers), "failed")
		}, lat, "inconclusive: 1 of 3 runs: no data: run 3 of fixed/latency/ours has no failed", 3, 0},
		"fail over inconclusive": {Definition{Where: latency, Each: "run", Pass: "failed == 0"}, func(s *Schema, d *Data) {
			delete(run(d, "fixed", "latency", "ours", "", 2).Metrics.(Numbers), "failed")
			broken(1, "failed", 1)(s, d)
		}, lat, "fail: 1 of 3 runs", 3, 0},
		"noisy":     {Definition{Where: latency, Each: "run", Mixed: "inconclusive", Pass: "failed == 0", Gate: "true"}, broken(1, "failed", 1), lat, "inconclusive: noisy, 2 of 3", 3, 3},
		"unanimous": {Definition{Where: latency, Each: "run", Mixed: "inconclusive", Pass: "p99_ms > 9"}, nil, lat, "fail", 3, 0},
		"a run is missing": {Definition{Where: latency, Each: "run", Pass: "failed == 0"}, func(_ *Schema, d *Data) { d.Cells[Coord{"fixed", "latency", "ours", ""}].Planned = 4 },
			lat, "inconclusive: 1 of 4 runs: too few runs: 3 of 4", 4, 0},
		"the same repeat of another cell": {Definition{Where: tput, Each: "run", Pass: `stage("again").req_per_s - req_per_s == 40000`}, nil, tp, "pass", 3, 0},
		"all runs of the cell":            {Definition{Where: tput, Each: "run", Pass: `runs.req_per_s.size() == 3 && req_per_s >= runs.req_per_s.min()`}, nil, tp, "pass", 3, 0},
		"labels of runs": {Definition{Where: latency, Each: "run", Cases: []Case{{`failed > 0`, "broken", Fail}, {`p99_ms > 5`, "slow", Fail}, {"", "fine", Pass}}}, func(s *Schema, d *Data) {
			broken(0, "failed", 1)(s, d)
			broken(2, "p99_ms", 7)(s, d)
		}, lat, "fail (broken, slow): 2 of 3 runs: failed > 0", 3, 0},
		"series": {Definition{Where: `scenario == "slowloris" && target == "ours"`, Each: "run", Let: []Let{{"w", `phase("attack").series("sut_rss_mib").after(max(10, phase("attack").seconds / 4))`}, {"line", "w.fit()"}},
			Cases: []Case{{`w.size() < 5`, "short", Inconclusive}, {`line.r2 >= 0.8 && line.rise > 32`, "grows", Fail}, {"", "bounded", Pass}}}, nil, slow, "fail (grows)", 1, 0},

		// other groups
		"each target": {Definition{Each: "target", Pass: `stage("throughput").scenario("h1-small").failed == 0 && scenario("churn").failed == 0`}, nil, "//ours", "pass", 6, 0},
		"each plan":   {Definition{Each: "plan", Pass: `targets.measured.all(t, scenario("churn").target(t).failed == 0)`}, nil, "", "pass", 9, 0},
		"each plan, undefined": {Definition{Each: "plan", Pass: `targets.measured.all(t, scenario("latency").target(t).failed == 0)`}, nil, "",
			"inconclusive: no data: fixed/latency/haproxy has no run", 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			js, sum := judged(t, c.def, c.change)
			j, ok := js[c.at]
			if !ok {
				t.Fatalf("nothing of %q; judged were %v", c.at, slices.Sorted(maps.Keys(js)))
			}
			if got := short(j); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s\n  want %s\n  {%s}", got, c.want, Explain(j.Operands))
			}
			if j.N != c.n {
				t.Errorf("n = %d, want %d", j.N, c.n)
			}
			if sum.Exit() != c.exit {
				t.Errorf("exit %d, want %d (%+v)", sum.Exit(), c.exit, sum)
			}
		})
	}
}

// rounds: three rounds of two repeats of two scenarios; in round 2 the claim does not hold.
func TestRounds(t *testing.T) {
	s := &Schema{Targets: []Target{{Name: "gw"}}, Stages: []Stage{{Name: "suites", Scenarios: []string{"base", "trigger"}, Rounds: 3}},
		Scenarios: map[string]*Scenario{"base": {Metrics: []Metric{{Name: "cv"}}}, "trigger": {Metrics: []Metric{{Name: "cv"}}}}}
	values := map[string][3]float64{"base": {1, 1, 1}, "trigger": {17, 0.5, 5}}
	data := func(rounds int) *Data {
		d := &Data{Cells: map[Coord]*Cell{}}
		for sc, v := range values {
			cell := &Cell{}
			for i := range rounds {
				for k := range 2 {
					cell.Runs = append(cell.Runs, &Run{Round: i + 1, Repeat: k + 1, Metrics: Numbers{"cv": v[i]}})
				}
			}
			d.Cells[Coord{"suites", sc, "gw", ""}] = cell
		}
		return d
	}
	for _, c := range []struct {
		rounds      int
		mixed, pass string
		want        string
	}{
		{3, "", `scenario("trigger").cv >= 2 * scenario("base").cv`, "fail: 1 of 3 rounds"},
		{3, "inconclusive", `scenario("trigger").cv >= 2 * scenario("base").cv`, "inconclusive: noisy, 2 of 3"},
		{3, "inconclusive", `scenario("trigger").cv >= 0.5`, "pass"},
		{3, "", `scenario("trigger").cv < 0.1`, "fail"},
		{1, "", `scenario("trigger").cv >= 2 * scenario("base").cv`, "inconclusive: 2 of 3 rounds: no data: suites/trigger/gw has no run of round 2"},
		{3, "", `runs.cv.size() == 2`, ""},
	} {
		compiler, err := NewCompiler(s)
		if err != nil {
			t.Fatal(err)
		}
		rules, ps := NewRules(compiler, []Definition{{Name: "H-A", Each: "round", Mixed: c.mixed, Pass: c.pass}})
		js := rules.Judge(t.Context(), data(c.rounds), Options{})
		if c.want == "" {
			if len(ps) != 1 || !strings.Contains(ps[0].Msg, "it does not say which scenario") {
				t.Error(ps)
			}
			continue
		}
		if ps != nil || len(js) != 1 {
			t.Fatal(ps, js)
		}
		if got := short(js[0]); !strings.HasPrefix(got, c.want) || js[0].At.Target != "gw" || len(js[0].Parts) != 3 || js[0].N != 3 {
			t.Errorf("%s: %s, want %s (%d parts)", c.pass, got, c.want, len(js[0].Parts))
		}
	}
}

func TestCheckDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		def  Definition
		want string
	}{
		"empty selection":   {Definition{Where: `scenario == "latency" && stage == "again"`, Pass: "true"}, "verdict 0, where: 1:1: no cell of the plan is selected"},
		"no such axis":      {Definition{Where: `scenario == "latency" && matrix.fault == "latency"`, Pass: "true"}, "verdict 0, where: 1:1: no cell of the plan is selected"},
		"where is a number": {Definition{Where: `5`, Pass: "true"}, "verdict 0, where: 1:1: a condition is wanted here, but this is a number"},
		"where of metrics":  {Definition{Where: `p99_ms < 5`, Pass: "true"}, "verdict 0, where: 1:1: p99_ms is known only while a run is going on, or when the runs are judged"},
		"pass is a number":  {Definition{Pass: "p99_ms"}, "verdict 0, pass: 1:1: a condition is wanted here, but this is a number"},
		"pass is a series":  {Definition{Where: `scenario == "slowloris"`, Each: "run", Pass: `series("sut_rss_mib")`}, "verdict 0, pass: 1:1: a condition is wanted here, but this is a series"},
		"nothing":           {Definition{}, "verdict 0, pass: 1:1: the verdict says nothing"},
		"both":              {Definition{Pass: "true", Cases: []Case{{"", "x", Pass}}}, "verdict 0, cases: 1:1: a verdict has pass or cases, not both"},
		"each":              {Definition{Each: "runs", Pass: "true"}, `verdict 0, each: 1:1: unknown each "runs"; did you mean "run"?`},
		"gate":              {Definition{Gate: "fail-onyl", Pass: "true"}, `verdict 0, gate: 1:1: unknown gate "fail-onyl"; did you mean "fail-only"?`},
		"gate-where alone":  {Definition{GateWhere: `target == "ours"`, Pass: "true"}, "verdict 0, gate-where: 1:1: gate-where without gate has no effect"},
		"gate-where empty":  {Definition{Gate: "true", Where: `target == "nginx"`, GateWhere: `target == "ours"`, Pass: "true"}, "verdict 0, gate-where: 1:1: no cell that where selects"},
		"gate-where typo":   {Definition{Gate: "true", GateWhere: `target == "our"`, Pass: "true"}, `verdict 0, gate-where: 1:11: unknown target "our"; did you mean "ours"?`},
		"mixed":             {Definition{Mixed: "inconclusive", Pass: "true"}, "verdict 0, mixed: 1:1: mixed is of runs or rounds that disagree"},
		"case":              {Definition{Cases: []Case{{"p99_ms < 5", "x", Pass}, {"p9_ms < 5", "y", Fail}}}, `verdict 0, cases[1].when: 1:1: unknown name "p9_ms"`},
		"case outcome":      {Definition{Cases: []Case{{"", "x", "passed"}}}, `verdict 0, cases[0].outcome: 1:1: unknown cases[0].outcome "passed"; did you mean "pass"?`},
		"case without":      {Definition{Cases: []Case{{"", "x", ""}}}, `verdict 0, cases[0].outcome: 1:1: the case has no outcome`},
		"case unreachable":  {Definition{Cases: []Case{{"", "x", Pass}, {"true", "y", Fail}}}, "verdict 0, cases[0].when: 1:1: a case without when is the rest"},
		"let":               {Definition{Let: []Let{{"a", "p9_ms"}}, Pass: "a < 5"}, `verdict 0, let.a: 1:1: unknown name "p9_ms"`},
		"let hides":         {Definition{Let: []Let{{"p99_ms", "5"}}, Pass: "p99_ms < 5"}, `verdict 0, let.p99_ms: 1:1: "p99_ms" is already the name of something else`},
		"let hides params":  {Definition{Let: []Let{{"params", "5"}}, Pass: "params < 5"}, `verdict 0, let.params: 1:1: "params" is already`},
		"let in a let":      {Definition{Let: []Let{{"b", "a + 1"}, {"a", "1"}}, Pass: "b < 5"}, `verdict 0, let.b: 1:1: unknown name "a"`},
		"let twice":         {Definition{Let: []Let{{"a", "2"}, {"a", "1"}}, Pass: "a < 5"}, `verdict 0, let.a: 1:1: "a" is already`},
		"let address":       {Definition{Where: `scenario == "latency"`, Let: []Let{{"quiet", `scenario("churn")`}}, Pass: "quiet.accepts < 5"}, `verdict 0, pass: 1:7: scenario "churn" does not produce the metric "accepts"`},
		"series of a cell":  {Definition{Where: `scenario == "slowloris"`, Pass: `series("sut_rss_mib").max() < 5`}, "verdict 0, pass: 1:1: a series is of one run, but each: cell judges several runs together; add each: run"},
		"one of several":    {Definition{Each: "plan", Pass: `target == "ours"`}, "verdict 0, pass: 1:1: target is not one here"},
		"metric of a plan":  {Definition{Each: "plan", Pass: `failed == 0`}, "verdict 0, pass: 1:1: no such cell: it does not say which scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := fixture()
			compiler, err := NewCompiler(s)
			if err != nil {
				t.Fatal(err)
			}
			_, ps := NewRules(compiler, []Definition{c.def})
			if got := fmt.Sprint(append(ps, DefProblem{})[0]); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s\n  want %s", got, c.want)
			}
		})
	}
}
