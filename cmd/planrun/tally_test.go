package main

import (
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
)

func TestTally(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
	tl := &tally{cells: map[string]*tallied{}}
	tl.add("a", 2, 10*time.Second)
	tl.add("b", 2, 5*time.Second)
	tl.add("c", 1, 7*time.Second)
	tl.begin(at(0))
	wants := func(what string, now, left float64) {
		t.Helper()
		if got := tl.left(at(now)).Seconds(); got < left-0.001 || got > left+0.001 {
			t.Errorf("%s: %.3fs left, not %.3fs", what, got, left)
		}
	}
	wants("before anything", 0, 37)
	if got := tl.run("a"); got != "run 1 of 5" || tl.place() != "cell 1 of 3" {
		t.Errorf("%s, %s", got, tl.place())
	}
	wants("in the middle of the first run", 5, 32)
	tl.done(at(12)) // 2 s of installing and draining: as much is expected of each other run
	wants("after the first run", 12, 10+5+5+7+4*2)
	tl.none("c") // its program is missing
	wants("without a cell", 12, 10+5+5+3*2)
	if got := tl.run("b"); got != "run 2 of 4" || tl.place() != "cell 2 of 3" {
		t.Errorf("%s, %s", got, tl.place())
	}
	wants("a run that takes too long", 100, 0)
	if s := tl.share(at(12)); s < 0.31 || s > 0.33 { // 12 of 38
		t.Errorf("a share of %v", s)
	}
	tl.done(at(19))
	for range 2 {
		tl.run("a")
		tl.done(at(31))
	}
	if got := tl.run("a"); got != "run 5 of 6" { // it was known only when its stage began
		t.Error(got)
	}
}

func TestNamesOfRuns(t *testing.T) {
	c := record.Coord{Stage: "all", Target: "nginx", Scenario: "faults", Matrix: []record.Axis{{Name: "fault", Value: "reset"}, {Name: "n", Value: "2"}}, Round: 1, Repeat: 3}
	if got, want := runName(c), "all/nginx/faults[fault=reset,n=2] repeat 3"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	c.Matrix, c.Round = nil, 2
	if got, want := runName(c), "all/nginx/faults round 2 repeat 3"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestStill(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "about 0s still", 4400 * time.Millisecond: "about 4s still", 43 * time.Second: "about 45s still",
		150 * time.Second: "about 3 min still", 3*time.Hour + 5*time.Minute: "about 3 h 05 min still"} {
		if got := still(d); got != want {
			t.Errorf("%v: %s, not %s", d, got, want)
		}
	}
}
