package report

import (
	"slices"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// A change that waited is marked where it began, one that was not made nowhere, and each of a scale's steps.
func TestChangesAreMarkedWhereTheyBegan(t *testing.T) {
	r := &record.Run{Facts: record.Facts{Changes: []record.Change{
		{Kind: "add-route", Action: "add-route a/", Phase: "p", Start: 4.3},
		{Kind: "toggle-route", Action: "toggle-route b/", Phase: "p", Start: 5, Unmade: true},
		{Kind: "scale", Action: "scale", Phase: "p", Start: 1}, {Kind: "scale", Action: "scale", Phase: "p", Start: 1.5}, {Kind: "scale", Action: "scale", Phase: "p", Start: 3},
	}}}
	for _, c := range []struct {
		a    record.Action
		want []float64
	}{
		{record.Action{Kind: "add-route", Name: "add-route a/", Phase: "p", Start: 2.4, End: 5}, []float64{4.3}},
		{record.Action{Kind: "toggle-route", Name: "toggle-route b/", Phase: "p", Start: 2.4, End: 5}, nil},
		{record.Action{Kind: "scale", Name: "scale", Phase: "p", Start: 0.9, End: 2}, []float64{1, 1.5}},
		{record.Action{Kind: "pause", Name: "pause", Phase: "p", Start: 0.9, End: 2}, []float64{0.9}},
	} {
		if got := startsOf(r, c.a); !slices.Equal(got, c.want) {
			t.Errorf("%s: marked at %v, want %v", c.a.Name, got, c.want)
		}
	}
}

// Changes that fail each say their own reason.
func TestEachChangeSaysItsReason(t *testing.T) {
	g := &broken{guard: record.Guard{Name: "change"}}
	for _, why := range []string{"a: late.", "b: not made", "c: not made", "d: not made"} {
		g.runs, g.seens = append(g.runs, &record.Run{}), append(g.seens, record.Guard{Name: "change", Message: why})
	}
	if got := plain(g.seen()); got != "a: late; b: not made; c: not made; and 1 more" {
		t.Errorf("says %q", got)
	}
	g.guard.Name = "pinning"
	if got := plain(g.seen()); got != "in the first of 4 runs: a: late" {
		t.Errorf("says %q", got)
	}
}

// What comes of changes is marked with them: reloads where they began, replicas that end together once.
func TestConsequencesAreMarked(t *testing.T) {
	f, r := failing()
	replica := func(at float64, n int, state string) record.Event {
		return record.Event{T: at, Kind: "replica", Fields: map[string]any{"process": "web", "replica": float64(n), "state": state}}
	}
	f.data[r.ID].Events = []record.Event{replica(1, 2, "ready"), replica(3, 2, "leaving"), replica(3.01, 3, "leaving"), replica(3.4, 3, "exited"), replica(3.1, 2, "exited"),
		{T: 3.9, Kind: "reload", Fields: map[string]any{"start": 3.02}}, {T: 5, Kind: "reload", Fields: map[string]any{"start": 4.9}}}
	b := newBuilder(f.in, Options{})
	units, err := b.units([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	marks, err := b.marks(units)
	if err != nil {
		t.Fatal(err)
	}
	want := []Mark{{[]float64{3}, "replicas are told to end"}, {[]float64{3.02, 4.9}, "reload: the target is told of a change"}, {[]float64{3.1, 3.4}, "replicas end"}}
	if len(marks) != len(want) || !slices.EqualFunc(marks, want, func(a, b Mark) bool { return a.Text == b.Text && slices.Equal(a.At, b.At) }) {
		t.Errorf("marks %+v, want %+v", marks, want)
	}
}
