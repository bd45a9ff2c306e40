package report

import (
	"strings"
	"testing"
)

func TestReversedLeaders(t *testing.T) {
	const says = "Another target is first when the stage is repeated"
	turned := again(map[string]float64{"a": 1000, "b": 2000}, 1)
	for i, c := range turned.in.Results.Cells { // in the stage that comes back a is twice as fast as b
		if c.Coord.Stage == "back" {
			other := map[string]string{"a": "b", "b": "a"}[c.Coord.Target]
			turned.in.Results.Cells[i].Coord.Target = other
			for _, id := range c.Runs {
				turned.data[id].Run.Coord.Target = other
			}
		}
	}
	if got, want := said(t, turned), says+", in 1 comparison: s (req_per_s: b in stage one, a in stage back)."; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
	level := again(map[string]float64{"a": 1000, "b": 1000}, 1)
	for i, c := range level.in.Results.Cells { // too little for runs that differ by 2 % among themselves
		if (c.Coord.Stage == "back") == (c.Coord.Target == "a") {
			v := c.Metrics[""].Value("req_per_s")
			v.Value, v.Runs = 1002, around(1002)
			level.in.Results.Cells[i].Metrics[""].Set("req_per_s", v)
		}
	}
	if got := said(t, level); strings.Contains(got, says) {
		t.Errorf("no stage has a first:\n%s", got)
	}
	if got := said(t, again(map[string]float64{"a": 1000, "b": 2000}, 1)); strings.Contains(got, says) {
		t.Errorf("the leader is the same:\n%s", got)
	}
}

// How sure a stage that repeats another is, is said where it is not as sure.
func TestSureInOneStage(t *testing.T) {
	f := newFixture()
	for target, then := range map[string]float64{"a": 2000, "b": 1000} {
		f.cell(cellSpec{stage: "one", scenario: "s", target: target, rates: []float64{then * 0.3, then, then * 3}})
		f.cell(cellSpec{stage: "back", scenario: "s", target: target, rates: around(then)})
	}
	if got, want := said(t, f), "; first in back too, there beyond the noise"; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}
}

// A stage that repeats another one has no line of its own among the leaders.
func TestRepeatedStagesShareALine(t *testing.T) {
	got := said(t, again(map[string]float64{"a": 1000, "b": 2000}, 1))
	if want := "one / s | req_per_s | b | 2,000 | a | 1,000 | 2.000 | yes: "; !strings.Contains(got, want) || !strings.Contains(got, "; first in back too") || strings.Contains(got, "back / s | ") {
		t.Errorf("the findings do not say %q once:\n%s", want, got)
	}
}
