package measure

import (
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// What shows that a fault beside relays was in force decides its guard, and one that was asked for and not made is missed.
func TestFaultsBesideRelays(t *testing.T) {
	fault := record.Fault{Kind: "drop", What: "drop of packets to web", Phase: "measure", Start: 2, End: 4, Share: 1, Packets: 40, Dropped: 40}
	none := fault
	none.Packets, none.Dropped = 0, 0
	action := record.Action{Kind: "drop", Name: "drop", Phase: "measure"}
	failed := action
	failed.Error = "it could not"
	for _, tc := range []struct {
		faults  []record.Fault
		actions []record.Action
		ok      bool
		want    string
	}{
		{[]record.Fault{fault}, []record.Action{action}, true, "drop of packets to web, from 2.0 s to 4.0 s: 40 of 40 packets were dropped"},
		{[]record.Fault{none}, []record.Action{action}, false, "no packet came that could have been dropped"},
		{nil, []record.Action{action}, false, "phase measure asked for 1 faults beside relays, of which 0 were made"},
		{[]record.Fault{{Kind: "signal", What: "SIGKILL to web/0", Start: 3, End: 3, Seen: "it ended"}}, nil, true, "SIGKILL to web/0, at 3.0 s: it ended"},
	} {
		d := healthy()
		d.Run.Facts.Faults, d.Run.Actions = tc.faults, tc.actions
		var got []record.Guard
		for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
			if g.Name == "fault" {
				got = append(got, g)
			}
		}
		if len(got) != 1 || got[0].OK != tc.ok || got[0].Taints != taintsWork || !strings.Contains(got[0].Message, tc.want) {
			t.Errorf("%+v, want %q", got, tc.want)
		}
	}
	d := healthy()
	d.Run.Facts.Faults, d.Run.Actions = nil, []record.Action{failed}
	for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
		if g.Name == "fault" {
			t.Errorf("an action that failed is said as that: %+v", g)
		}
	}
}

// Limits that the kernel does not say are those of the plan taint everything.
func TestLimitsGuard(t *testing.T) {
	for _, holds := range []bool{true, false} {
		d := healthy()
		d.Run.Processes[0].WantLimits = &record.Limits{Memory: 64 << 20}
		d.Run.Processes[0].Limits = &record.Limits{Memory: 64 << 20}
		if !holds {
			d.Run.Processes[0].Limits = nil
		}
		seen := 0
		for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
			if g.Name == "limits" {
				seen++
				if g.OK != holds || !strings.Contains(g.Message, "64 MiB") {
					t.Errorf("%+v", g)
				}
			}
		}
		if seen != 1 {
			t.Errorf("%d guards", seen)
		}
	}
}

// A fault whose phase was over before it was due taints its run; what only looks does not.
func TestWhatNeverBegan(t *testing.T) {
	for kind, taints := range map[string]bool{"toxic": true, "drop": true, "pause": true, "limit": true, "signal": true, "exec": true, "snapshot": false, "wait": false} {
		d := healthy()
		d.Run.Actions = []record.Action{{Kind: kind, Name: "the " + kind, Where: "p.yaml:3:4", Phase: "measure", Due: 9, Start: 9, End: 9, Never: true}}
		var got []string
		for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
			if g.Name == "fault" && !g.OK && g.Taints == taintsWork {
				got = append(got, g.Message)
			}
		}
		want := []string{"the " + kind + " (p.yaml:3:4) did not begin: phase measure was over before it was due"}
		if !taints {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
