package record

import (
	"reflect"
	"testing"
)

func TestAlike(t *testing.T) {
	one := Fault{Relay: "a", Toxic: "latency", Says: "latency of 20ms", Phase: "p", Start: 1, End: 2, Connections: 3, Chunks: 4, Bytes: 5, Held: 6, Unit: "ms", Asked: 20, Measured: 20, Of: 1}
	two := one
	two.Start, two.End, two.Measured, two.Of, two.Resets, two.Closed, two.Refused, two.Inexact, two.Gone = 3, 4, 24, 3, 1, 2, 3, true, "it was lost"
	idle := one
	idle.Start, idle.End, idle.Measured, idle.Of = 5, 6, 0, 0
	other := one
	other.Phase = "q"
	got := Facts{Faults: []Fault{one, other, {Kind: "pause"}, two, idle}}.Toxics()
	want := []Alike{{Fault{Relay: "a", Toxic: "latency", Says: "latency of 20ms", Phase: "p", Start: 1, End: 6, Gone: "it was lost", Connections: 9, Chunks: 12, Bytes: 15, Held: 18,
		Resets: 1, Closed: 2, Refused: 3, Inexact: true, Unit: "ms", Asked: 20, Measured: 23, Of: 4}, 3}, {other, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
