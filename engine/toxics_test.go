package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// toxics are phases in each of which one is in force, named after it.
const toxics = `
      - warm-up: {for: 300ms, do: [{load: {path: /bytes/4000, connections: 4, rate: 100/s, timeout: 250ms, reuse: none}, through: after}]}
      - fault: {name: latency, for: LENGTH, do: [toxic: {relay: slow_web, latency: 20ms, jitter: 5ms, distribution: normal, direction: both, seed: 1}]}
      - fault: {name: bandwidth, for: LENGTH, do: [toxic: {relay: slow_web, bandwidth: 40kB/s}]}
      - fault: {name: slice, for: LENGTH, do: [toxic: {relay: slow_web, slice: 1000B, slice-delay: 1ms}]}
      - fault: {name: limit-data, for: LENGTH, do: [toxic: {relay: slow_web, limit-data: 1kB}]}
      - fault: {name: reset-after, for: LENGTH, do: [toxic: {relay: slow_web, preset: reset}]}
      - fault: {name: slow-close, for: LENGTH, do: [toxic: {relay: slow_web, slow-close: 20ms, direction: up}]}
      - fault: {name: timeout, for: LENGTH, do: [toxic: {relay: slow_web, timeout: 50ms, share: 50%}]}
      - fault: {name: stall, for: LENGTH, do: [toxic: {relay: slow_web, preset: stall}]}
      - fault: {name: blackhole, for: LENGTH, do: [toxic: {relay: slow_web, blackhole: true}]}
      - fault: {name: refuse, for: LENGTH, do: [toxic: {relay: slow_web, refuse: true}]}
      - measure: {name: after, for: 300ms}
probes: [{relay: {}, every: 100ms}]
`

// Every toxic of the language is in force in its phase, the relay says what it did, and the guard has words for each. Each
// request has a connection of its own, so that refusing and slow ends are seen too. On a busy machine phases may be over
// before their toxics begin; longer ones then show them.
func TestEveryToxic(t *testing.T) {
	for _, length := range []string{"500ms", "2s", "6s"} {
		out := run(t, compile(t, onRelay+strings.ReplaceAll(toxics, "LENGTH", length)), engine.RunOptions{})
		r := ran(t, out)
		missing := notInForce(r)
		if len(missing) > 0 && length != "6s" {
			t.Logf("with phases of %s: %q", length, missing)
			continue
		}
		for _, m := range missing {
			t.Error(m)
		}
		guards := 0
		for _, g := range r.Guards {
			if g.Name == "fault" {
				guards++
				t.Log(g.OK, g.Message)
			}
		}
		if guards != 10 {
			t.Errorf("%d guards speak of faults", guards)
		}
		if n := r.Metrics[""].Value("slow_web_toxic_connections_last"); n == 0 {
			t.Errorf("the relay's probe saw no toxic at work: %v", r.Metrics[""])
		}
		said := happened(t, out, r.ID, "fault")
		for i, want := range []string{"latency of 20ms, normal with a deviation of 5ms on slow_web begins", "latency of 20ms, normal with a deviation of 5ms on slow_web ends", "bandwidth of 40kB/s on slow_web begins"} {
			if len(said) != 20 || said[i].Message != want {
				t.Fatalf("%d events: %+v", len(said), said)
			}
		}
		return
	}
}

// notInForce says which of the toxics did not do what they are to do.
func notInForce(r *record.Run) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(r.Facts.Faults) != 10 {
		say("%d faults", len(r.Facts.Faults))
	}
	for _, f := range r.Facts.Faults {
		if f.Phase != f.Toxic || f.Relay != "slow_web" || f.Gone != "" || f.End < f.Start {
			say("%+v", f)
		}
		if f.Connections+f.Refused == 0 {
			say("%s acted on nothing: %+v", f.Toxic, f)
		}
		if n, ends := map[string]int64{"limit-data": f.Closed, "reset-after": f.Resets, "timeout": f.Closed, "blackhole": f.Resets, "refuse": f.Refused}[f.Toxic]; ends && n == 0 {
			say("%s ended nothing: %+v", f.Toxic, f)
		}
		if compared := f.Toxic != "stall" && f.Toxic != "blackhole" && f.Toxic != "refuse"; compared && (f.Unit == "" || f.Of == 0 || f.Asked == 0) {
			say("nothing says how much of %s there was: %+v", f.Toxic, f)
		}
	}
	return all
}

// A lasting action of a repeat lasts as long as its for says, and what follows comes after it.
func TestToxicsOfARepeat(t *testing.T) {
	out := run(t, compile(t, onRelay+`
      - warm-up: {for: 300ms, do: [{load: {path: /small, connections: 2, rate: 100/s}, through: fault}]}
      - fault: {do: [repeat: {times: 2, do: [{toxic: {relay: slow_web, latency: 5ms}, for: 150ms}, {toxic: {relay: slow_web, stall: true}, for: 50ms}]}]}
`), engine.RunOptions{})
	r := ran(t, out)
	var got []string
	end := 0.0
	for _, f := range r.Facts.Faults {
		got = append(got, f.Toxic)
		if f.Gone != "" || f.Start < end || f.End < f.Start+0.04 {
			t.Errorf("%+v begins before %v s", f, end)
		}
		end = f.End
	}
	if strings.Join(got, " ") != "latency stall latency stall" {
		t.Errorf("in force: %q", got)
	}
}

// A toxic whose phase is over before it is due taints its run: nothing was broken.
func TestAToxicThatNeverBegins(t *testing.T) {
	out := run(t, compile(t, onRelay+`
      - fault: {name: short, for: 5s, until: "requests > 10", do: [{load: {path: /small, connections: 2, rate: 100/s}}, {at: 4500ms, toxic: {relay: slow_web, latency: 5ms}}]}
`), engine.RunOptions{})
	r := ran(t, out)
	var said []string
	for _, g := range r.Guards {
		if g.Name == "fault" && !g.OK {
			said = append(said, g.Message)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "did not begin: phase short was over before it was due") {
		t.Errorf("%q in %+v", said, r.Guards)
	}
}
