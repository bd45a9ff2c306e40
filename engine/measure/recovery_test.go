package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// A tick is what one second of a load was like: how many of 100 requests succeeded, and how long each of them took.
type tick struct {
	ok      int
	took    time.Duration
	stalled bool
}

const (
	good = 4 * time.Millisecond
	slow = 80 * time.Millisecond
)

func ticks(n, ok int, took time.Duration) (out []tick) {
	for range n {
		out = append(out, tick{ok: ok, took: took})
	}
	return out
}

// struck is a run whose load, an open loop unless closed, began 0.25 s after the run, in the phase before; its fault was from 4.5 s to
// 6.5 s. The seconds before the fault are those from 0.25 to 4.25; the first after it begins at 7.25.
func struck(closed bool, of ...[]tick) *record.Data {
	var all []tick
	for _, t := range of {
		all = append(all, t...)
	}
	end := 0.25 + float64(len(all))
	spec := load.Spec{Rate: []load.RateStep{{To: 100}}}
	if closed {
		spec.Rate = nil
	}
	d := &record.Data{Run: &record.Run{
		Status: record.Done,
		Phases: []record.Phase{
			{Name: "before", Kind: "load", Start: 0, End: 4.5, Recorded: true, Headline: true}, {Name: "fault", Kind: "fault", Start: 4.5, End: 6.5, Recorded: true, Headline: true},
			{Name: "after", Kind: "load", Start: 6.5, End: end, Recorded: true, Headline: true},
		},
		Loads: []record.Load{{Name: "main", Headline: true, Start: 0.25, Stopped: end, End: end + 0.1, Spec: spec}},
		Facts: record.Facts{Faults: []record.Fault{{Relay: "r", Toxic: "latency", Phase: "fault", Start: 4.5, End: 6.5, Bytes: 1}}},
	}}
	for s, x := range all {
		c := load.Counts{Due: 100, OK: int64(x.ok), Errors: map[string]int64{load.Timeout: int64(100 - x.ok)}}
		if closed {
			c.Due, c.Errors = int64(x.ok), nil
		}
		if x.stalled {
			c.StalledLagNs = int64(2 * Stall)
		}
		var h *hdr.Histogram
		if x.ok > 0 {
			h = hist(x.ok, x.took)
		}
		if closed && x.ok == 0 {
			continue // nothing was due, and nothing is recorded
		}
		d.Seconds = append(d.Seconds, load.Second{Load: "main", Phase: "x", Second: s, Counts: c, Latency: h})
	}
	return d
}

func TestRecovery(t *testing.T) {
	before := ticks(4, 100, good)
	bad := ticks(3, 40, slow) // 4.25 to 7.25: the fault, and what lies about its ends
	for _, c := range []struct {
		name            string
		d               *record.Data
		all, rate, p99  float64 // -1: it has no value
		not             float64
		whyAll, whyRate string
	}{
		{"at once", struck(false, before, bad, ticks(5, 100, good)), 0.75, 0.75, 0.75, 0, "", ""},
		{"the rate first", struck(false, before, bad, ticks(2, 100, slow), ticks(4, 100, good)), 2.75, 0.75, 2.75, 0, "", ""},
		{"the rate last", struck(false, before, bad, ticks(2, 40, good), ticks(4, 100, good)), 2.75, 2.75, 0.75, 0, "", ""},
		{"one good second among bad ones is not back", struck(false, before, bad, ticks(1, 100, good), ticks(1, 100, slow), ticks(3, 100, good)), 2.75, 0.75, 2.75, 0, "", ""},
		{"a bad second long after it is none of the fault's", struck(false, before, bad, ticks(4, 100, good), ticks(1, 40, slow), ticks(1, 100, good)), 0.75, 0.75, 0.75, 0, "", ""},
		{"within the bounds, if barely", struck(false, before, bad, ticks(4, 90, 9*time.Millisecond)), 0.75, 0.75, 0.75, 0, "", ""}, // 4 + 5 ms
		{"just beyond them", struck(false, before, bad, ticks(4, 89, 9300*time.Microsecond)), -1, -1, -1, 1,
			"in its last second 89 % of the requests succeeded, of 100 % before (at least 90 % of that), and the p99 of its last second was 9.3", "4 whole seconds that followed"},
		{"nothing answers any more", struck(false, before, bad, ticks(4, 0, 0)), -1, -1, -1, 1, "no request of its last second succeeded", "in its last second 0 % of"},
		{"back too late to know", struck(false, before, bad, ticks(3, 40, slow), ticks(2, 100, good)), -1, -1, -1, -1, "back in the last 2 whole seconds only of the 5 that followed", "back in the last 2"},
		{"too short to know", struck(false, before, bad, ticks(2, 100, good)), -1, -1, -1, -1, "2 whole seconds of the headline load followed the last fault, fewer than the 3", "fewer than the 3"},
		{"nothing before", struck(false, ticks(4, 0, 0), bad, ticks(4, 100, good)), -1, -1, -1, -1, "no request succeeded before", "no request succeeded before"},
		{"a stall of the generator is skipped", struck(false, before, bad, ticks(1, 100, good), []tick{{100, slow, true}}, ticks(2, 100, good)), 0.75, 0.75, 0.75, 0, "", ""},
		{"a closed loop", struck(true, before, bad, ticks(1, 80, good), ticks(3, 95, good)), 1.75, 1.75, 0.75, 0, "", ""},
		{"a closed loop of which every connection waits", struck(true, before, bad, ticks(2, 0, good), ticks(3, 100, good)), 2.75, 2.75, 2.75, 0, "", ""},
	} {
		Derive(c.d)
		m, why := c.d.Run.Metrics[""], c.d.Run.Missing
		for name, want := range map[string]float64{recoveryName: c.all, recoveryRate: c.rate, recoveryP99: c.p99, notRecoveredName: c.not} {
			switch got, ok := m.Get(name); {
			case want < 0 && (ok || why[name] == ""):
				t.Errorf("%s: %s = %v, missing %q; want it missing, with a reason", c.name, name, got, why[name])
			case want >= 0 && (!ok || !near(got, want)):
				t.Errorf("%s: %s = %v (%s), want %v", c.name, name, got, why[name], want)
			}
		}
		if !strings.Contains(why[recoveryName], c.whyAll) || !strings.Contains(why[recoveryRate], c.whyRate) {
			t.Errorf("%s: missing because %q and %q", c.name, why[recoveryName], why[recoveryRate])
		}
	}
}

// The bound is the scenario's, as it was recorded.
func TestRecoveryBound(t *testing.T) {
	make := func(b record.Recovery) *record.Window {
		d := struck(false, ticks(4, 100, good), ticks(3, 40, slow), ticks(2, 80, 2*good), ticks(3, 100, good))
		d.Run.Recovery = &b
		Derive(d)
		return d.Run.Metrics[""]
	}
	wantMetrics(t, make(record.Recovery{Rate: 0.8, P99: 2.01, HoldS: 5}), map[string]float64{recoveryName: 0.75})
	wantMetrics(t, make(record.Recovery{Rate: 0.81, P99: 2.01, HoldS: 2.5}), map[string]float64{recoveryName: 2.75, recoveryP99: 0.75})
	wantMetrics(t, make(record.Recovery{Rate: 0.5, P99: 1, HoldS: 1}), map[string]float64{recoveryName: 2.75, recoveryRate: 0.75})
	wantMetrics(t, make(record.Recovery{Rate: 0.5, P99: 1, SlackMs: 4.1, HoldS: 1}), map[string]float64{recoveryName: 0.75})
}

// A fault's end is that of the last thing that was broken, by whatever means.
func TestLastFault(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(*record.Data)
		first, last float64
	}{
		{"a toxic", func(*record.Data) {}, 4.5, 6.5},
		{"a pause after it", func(d *record.Data) {
			d.Run.Actions = []record.Action{{Kind: "pause", Start: 6, End: 7}, {Kind: "load", Start: 0, End: 20}, {Kind: "restart", Start: 1, End: 9, Error: "no such process"}}
		}, 4.5, 7},
		{"a restart within a repeat", func(d *record.Data) {
			d.Events = []record.Event{{T: 4, Kind: "restart"}, {T: 8, Kind: "restart"}, {T: 9, Kind: "note"}}
		}, 4, 8},
		{"nothing but an exec in a fault phase", func(d *record.Data) {
			d.Run.Facts.Faults, d.Run.Actions = nil, []record.Action{{Kind: "exec", Start: 5, End: 5.1}}
		}, 4.5, 6.5},
	} {
		d := struck(false, ticks(12, 100, good))
		c.change(d)
		if first, last, never := newIndex(d).broken(); never || first != c.first || last != c.last {
			t.Errorf("%s: from %v to %v (%v), want %v to %v", c.name, first, last, never, c.first, c.last)
		}
	}
	d := struck(false, ticks(12, 100, good))
	d.Run.Actions = []record.Action{{Kind: "pause", Start: 5}}
	Derive(d)
	if why := d.Run.Missing[recoveryName]; why != "no fault ended before the run did" {
		t.Errorf("a pause that did not end: %q", why)
	}
	d = example()
	Derive(d)
	_, has := d.Run.Metrics[""].Get(recoveryName)
	if why := d.Run.Missing[recoveryName]; has || why != "" {
		t.Errorf("a run without a fault: %v, %q", has, why)
	}
}

// The names are known where there is something to come back from, and described wherever a run has them.
func TestRecoveryNames(t *testing.T) {
	has := func(k Known, name string) bool {
		for _, d := range Produced(k) {
			if d.Name == name {
				return d.Unit == "s" || d.Across == series.Sum || d.Across == series.Max
			}
		}
		return false
	}
	for _, c := range []struct {
		k    Known
		name string
		want bool
	}{
		{Known{Loads: true, Faults: true}, recoveryName, true}, {Known{Loads: true, Faults: true}, notRecoveredName, true},
		{Known{Loads: true}, recoveryName, false}, {Known{Faults: true}, recoveryName, false},
		{Known{Relays: true}, relaysLeftDesc.Name, true}, {Known{Loads: true}, relaysLeftDesc.Name, false},
	} {
		if got := has(c.k, c.name); got != c.want {
			t.Errorf("%+v: %s is known: %v", c.k, c.name, got)
		}
	}
	d := struck(false, ticks(4, 100, good), ticks(3, 40, slow), ticks(5, 100, good))
	d.Run.Facts.RelaysLeft = []record.RelayLeft{{Relay: "r/0", Opened: 9, Live: 2}, {Relay: "r/1", Opened: 9, Live: 3}}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{relaysLeftDesc.Name: 5})
	_, descs := CellsOf([]*record.Run{d.Run})
	for _, name := range []string{recoveryName, recoveryP99, notRecoveredName, relaysLeftDesc.Name} {
		if descs[name].Doc == "" {
			t.Errorf("%s is not described: %+v", name, descs[name])
		}
	}
	d.Run.Facts.RelaysLeft[1].Why = "it is gone"
	Derive(d)
	if why := d.Run.Missing[relaysLeftDesc.Name]; why != "relay r/1 did not say: it is gone" {
		t.Errorf("a relay that does not answer: %q", why)
	}
}
