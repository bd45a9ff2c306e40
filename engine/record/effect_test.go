package record

import "testing"

func TestInForce(t *testing.T) {
	for _, tc := range []struct {
		f    Fault
		ok   bool
		want string
	}{
		{Fault{Kind: "drop", Share: 0.05, Packets: 2000, Dropped: 101}, true, "101 of 2000 packets were dropped (5.05 %; 5 % were to be)"},
		{Fault{Kind: "drop", Share: 1}, false, "no packet came that could have been dropped"},
		{Fault{Kind: "drop", Share: 0.001, Packets: 20}, false, "none of the 20 packets that came was dropped (0.1 % were to be)"},
		{Fault{Kind: "drop", Packets: 20}, true, "0 of 20 packets were dropped (0 %; 0 % were to be)"},
		{Fault{Kind: "drop", Share: 1, Packets: 9, Dropped: 9, Gone: "its process ended"}, false, "its process ended"},
		{Fault{Kind: "pause", Start: 1, End: 3.5, StoppedS: 2.45}, true, "everything was seen to be stopped for 2.45 of 2.50 s"},
		{Fault{Kind: "signal", Seen: "it ended"}, true, "it ended"},
		{Fault{Kind: "limit"}, true, "it was made"},
	} {
		if ok, got := tc.f.InForce(); ok != tc.ok || got != tc.want {
			t.Errorf("%+v: %v, %s", tc.f, ok, got)
		}
	}
}

func TestLimitsHold(t *testing.T) {
	for _, tc := range []struct {
		is, want *Limits
		holds    bool
	}{
		{nil, nil, true}, {&Limits{CPU: 1}, nil, true}, {nil, &Limits{CPU: 1}, false},
		{&Limits{Memory: 100 << 20}, &Limits{Memory: 100<<20 + 100}, true}, {&Limits{Memory: 101 << 20}, &Limits{Memory: 100 << 20}, false},
		{&Limits{Memory: 1 << 20}, &Limits{Memory: 1 << 20, Processes: 3}, false}, {&Limits{CPU: 0.333, Processes: 3}, &Limits{CPU: 1. / 3, Processes: 3}, true},
	} {
		if got := tc.is.Holds(tc.want); got != tc.holds {
			t.Errorf("%s for %s: %v", tc.is.Words(), tc.want.Words(), got)
		}
	}
	if got := (&Limits{Memory: 64 << 20, CPU: 0.5, Processes: 9}).Words(); got != "0.5 CPUs, 64 MiB, 9 processes" {
		t.Error(got)
	}
}
