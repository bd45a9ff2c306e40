package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/stats"
)

// A gate of a release: it passes or fails where the noise allows it, and is inconclusive where the noise is larger than what
// it wants to see.
func TestNoiseFloor(t *testing.T) {
	def := Definition{Where: `scenario == "h1-small" && stage == "throughput" && target == "ours"`,
		Let:   []Let{{"r", `ratio(req_per_s, target("nginx").req_per_s)`}, {"noise", `noise_floor(req_per_s, target("nginx").req_per_s)`}},
		Cases: []Case{{"r / noise >= 0.98", "kept", Pass}, {"r * noise < 0.98", "slower", Fail}, {"", "noisy", Inconclusive}}}
	for _, c := range []struct {
		name  string
		runs  []float64 // of ours; nginx has 100, 101, 99
		again float64   // of nginx in the reversed stage
		all   float64   // by which all targets moved there
		want  string
		other func(reversed *Stage, run *Run) // makes that stage another experiment
	}{
		{"the same", []float64{104, 105, 103}, 100, 1, "pass (kept)", nil},
		{"much slower", []float64{50, 51, 49}, 100, 1, "fail (slower)", nil},
		{"noisy", []float64{70, 100, 130}, 100, 1, "inconclusive (noisy)", nil},
		{"stages disagree", []float64{104, 105, 103}, 80, 1, "inconclusive (noisy)", nil},
		{"all targets moved alike", []float64{104, 105, 103}, 100, 0.5, "pass (kept)", nil},
		{"all targets moved, one of them more", []float64{104, 105, 103}, 80, 0.5, "inconclusive (noisy)", nil},
		{"a run failed where stages disagree", []float64{104, 105, 103}, 80, 1, "inconclusive (noisy)", func(_ *Stage, r *Run) {
			if r.Repeat == 1 {
				r.Outcome, r.Reason = Errored, "it crashed"
			}
		}},
		{"without probes it is no repeat", []float64{104, 105, 103}, 80, 1, "pass (kept)", func(st *Stage, _ *Run) { st.Without = []string{"all"} }},
		{"at another rate it is no repeat", []float64{104, 105, 103}, 80, 1, "pass (kept)", func(_ *Stage, r *Run) { r.Names = map[string]any{"params.rate": 80.0} }},
		{"few", []float64{100, 100}, 100, 1, "inconclusive: whether it is kept cannot be said: the noise is not known: below 3 runs", nil},
		{"zero", []float64{0, 100, 100}, 100, 1, "inconclusive: whether it is kept cannot be said: the noise is not known: a run's value is 0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			js, _ := judged(t, def, func(s *Schema, d *Data) {
				for at, cell := range d.Cells {
					values := []float64{100, 101, 99}
					switch {
					case at.Scenario != "h1-small":
						continue
					case at.Stage != "throughput":
						values = []float64{100, 100, 100}
						if at.Target == "nginx" {
							values = []float64{c.again, c.again, c.again}
						} else if at.Target == "ours" {
							values = c.runs
						}
					case at.Target == "ours":
						values = c.runs
					}
					reversed := at.Stage != "throughput"
					cell.Planned, cell.Runs = len(values), cell.Runs[:len(values)]
					for i, v := range values {
						if reversed {
							v *= c.all
						}
						cell.Runs[i].Metrics.(Numbers)["req_per_s"] = v
						cell.Runs[i].Names = map[string]any{"params.rate": 100.0}
						if j := slices.IndexFunc(s.Stages, func(st Stage) bool { return st.Name == at.Stage }); reversed && c.other != nil && j >= 0 {
							c.other(&s.Stages[j], cell.Runs[i])
						}
					}
				}
			})
			for _, j := range js {
				if got := short(j); !strings.HasPrefix(got, c.want) {
					t.Errorf("%s, want %s", got, c.want)
				}
			}
			if len(js) != 1 {
				t.Errorf("%d judgements", len(js))
			}
		})
	}
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, "throughput/h1-small/ours")
	p, ps := c.Compile(`noise_floor(req_per_s, target("nginx").req_per_s)`, AtJudge, []Coord{at})
	if ps != nil {
		t.Fatal(ps)
	}
	runs := func(target string) (out []float64) {
		for _, r := range d.Cells[coordOf(t, c.ix, "throughput/h1-small/"+target)].Runs {
			out = append(out, r.Metrics.(Numbers)["req_per_s"])
		}
		return out
	}
	got := p.Eval(t.Context(), Values{At: at, Data: d}).Value
	want := stats.Compare("a", stats.Side{Runs: runs("ours")}, "b", stats.Side{Runs: runs("nginx")}).Floor
	if v, ok := got.(float64); !ok || v < want-1e-9 || math.IsNaN(v) {
		t.Errorf("%v, want at least the floor of the runs alone, %v", got, want)
	}
	memory := &Schema{Targets: []Target{{Name: "a"}}, Stages: []Stage{{Name: "s", Scenarios: []string{"s"}}}, Scenarios: map[string]*Scenario{"s": {Metrics: []Metric{{Name: "sut_rss_peak_mib", Across: ByMax}}}}}
	cell := &Cell{Planned: 3}
	for i, v := range []float64{10, 11, 11} {
		cell.Runs = append(cell.Runs, &Run{Round: 1, Repeat: i + 1, Installed: "a-1", Metrics: Numbers{"sut_rss_peak_mib": v}})
	}
	one, err := NewCompiler(memory)
	if err != nil {
		t.Fatal(err)
	}
	rules, problems := NewRules(one, []Definition{{Name: "v", Pass: "noise_floor(sut_rss_peak_mib, sut_rss_peak_mib) >= 1"}})
	if problems != nil {
		t.Fatal(problems)
	}
	js := rules.Judge(t.Context(), &Data{Cells: map[Coord]*Cell{{Stage: "s", Scenario: "s", Target: "a"}: cell}}, Options{})
	if len(js) != 1 || js[0].Outcome != Inconclusive || !strings.Contains(js[0].Reason, "shared their processes") {
		t.Errorf("peaks of one process: %+v", js)
	}
	for _, bad := range []string{`noise_floor(1, 2) > 1`, `noise_floor(req_per_s * 2, req_per_s) > 1`} {
		if _, ps := c.Compile(bad, AtJudge, []Coord{at}); len(ps) == 0 || !strings.Contains(ps[0].Msg, "noise_floor() wants two metrics") {
			t.Errorf("%s: %v", bad, ps)
		}
	}
}
