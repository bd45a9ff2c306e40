package measure

import (
	"fmt"
	"math"

	"github.com/planrun/planrun/engine/record"
)

// toxics says of each toxic whether it was in force and had the effect that was asked for, and whether each that an action
// asked for came to a relay.
func (j *judge) toxics() {
	for _, f := range j.run.Facts.Toxics() {
		ok, why := inForce(f.Fault)
		if f.Times > 1 {
			why = fmt.Sprintf("%s (%d times)", why, f.Times)
		}
		j.add("fault", "", ok, taintsWork, "toxic %s of relay %s %s", f.Toxic, f.Relay, why)
	}
	j.unmade(map[string]string{"toxic": ""}, "phase %s asked for %d toxics, the relays counted %d in force")
}

// unmade says in which phases actions asked for more faults than there were. The kinds are those of the actions, each with that
// of its faults; format is of the phase and both numbers.
func (j *judge) unmade(kinds map[string]string, format string) {
	for _, p := range j.run.Phases {
		asked, seen := 0, 0
		of := map[string]bool{}
		for _, fault := range kinds {
			of[fault] = true
		}
		for _, a := range j.run.Actions {
			if _, breaks := kinds[a.Kind]; breaks && a.Phase == p.Name && a.Error == "" && !a.Never {
				asked++
			}
		}
		for _, f := range j.run.Facts.Faults {
			if of[f.Kind] && f.Phase == p.Name {
				seen++
			}
		}
		if seen < asked {
			j.add("fault", "", false, taintsWork, format, p.Name, asked, seen)
		}
	}
}

// inForce judges a fault by what the relay counted and measured under it.
func inForce(f record.Fault) (ok bool, why string) {
	when := fmt.Sprintf("was in force from %.1f s to %.1f s", f.Start, f.End)
	if f.Gone != "" {
		return false, "was not in force to the end: " + f.Gone
	}
	if f.Toxic == "refuse" {
		return refused(f, when)
	}
	if f.Server != "" {
		return onServer(f, when)
	}
	if f.Connections == 0 { // those that were only open say nothing
		return false, when + ", but nothing passed the relay under it"
	}
	when = fmt.Sprintf("was in force for %d connections", f.Connections)
	for _, e := range effects {
		if e.toxic == f.Toxic {
			ok, why = e.judge(f)
			return ok, when + ": " + why
		}
	}
	return true, when
}

// onServer judges a toxic on a server of others, which counts neither connections nor what its toxics do: planrun's own relay
// in front of it knows what came to it, and that is all.
func onServer(f record.Fault, when string) (bool, string) {
	if f.Connections == 0 || f.Bytes == 0 {
		return false, when + ", but nothing passed the relay under it"
	}
	return true, when + fmt.Sprintf(", as %s says; %d connections and %d bytes passed planrun's relay in front of it meanwhile. What it did to them the server does not count: hold the phase against the one before", f.Server, f.Connections, f.Bytes)
}

// refused: nobody can be seen to be refused but by the system.
func refused(f record.Fault, when string) (bool, string) {
	switch {
	case f.Refused == 0:
		return false, when + ", but nobody tried to connect: connections that live go on under it"
	case f.Inexact:
		return true, when + fmt.Sprintf(": at most %d connections were refused (all resets of the system's network are counted; connections alone can be with CAP_NET_RAW)", f.Refused)
	}
	return true, when + fmt.Sprintf(": %d connections were refused", f.Refused)
}

// An effect is how a kind of toxic is judged that something came to.
type effect struct {
	toxic string
	judge effectOf
}

type effectOf = func(f record.Fault) (ok bool, why string)

var effects = []effect{
	{"blackhole", swallowed("were swallowed")},
	{"stall", swallowed("had to wait")},
	{"timeout", ended("ended", func(f record.Fault) int64 { return f.Closed }, intime)},
	{"latency", delayed},
	{"bandwidth", narrowed},
	{"slice", sliced},
	{"limit-data", ended("ended", func(f record.Fault) int64 { return f.Closed }, exactly)},
	{"reset-after", ended("reset", func(f record.Fault) int64 { return f.Resets }, exactly)},
	{"slow-close", delayed},
}

// Bounds of what counts as the effect that was asked for. Timers of a relay are never early, and late on a busy machine; a
// mean of jittered delays scatters.
const (
	leastDelay  = 0.9 // of the delay asked for
	mostDelay   = 1.5 // of it, and
	slackMs     = 5.0 // so much more
	leastRate   = 0.8 // of the rate asked for, where there was enough traffic to reach it
	mostRate    = 1.1
	leastLineMs = 0.5  // on the line, if no piece ever waited for another: with less nobody can have noticed it
	leastBytes  = 0.99 // of the bytes before an end; the last of them may be lost with a reset
)

func delayed(f record.Fault) (bool, string) {
	if f.Of == 0 {
		return false, fmt.Sprintf("nothing waited for as long as it asked (%s)", amount(f.Asked, f.Unit))
	}
	ok, bounds := asAsked(f)
	return ok, fmt.Sprintf("it added %s, of %s asked%s", amount(f.Measured, f.Unit), amount(f.Asked, f.Unit), bounds)
}

func intime(f record.Fault) (bool, string) {
	ok, bounds := asAsked(f)
	return ok, fmt.Sprintf("after %s, of %s asked%s", amount(f.Measured, f.Unit), amount(f.Asked, f.Unit), bounds)
}

// asAsked judges a mean time; of delays that vary it scatters.
func asAsked(f record.Fault) (ok bool, bounds string) {
	scatter := 4 * f.Spread / math.Sqrt(float64(f.Of))
	least, most := leastDelay*f.Asked-scatter, mostDelay*f.Asked+slackMs+scatter
	if f.Measured >= least && f.Measured <= most {
		return true, ""
	}
	return false, fmt.Sprintf(" (from %s to %s counts as in force)", amount(max(0, least), f.Unit), amount(most, f.Unit))
}

// narrowed looks at what came while the line was busy; if that is little, the line was not the bottleneck.
func narrowed(f record.Fault) (bool, string) {
	if line := float64(f.Bytes) / float64(max(f.Chunks, 1)) / f.Asked * 1000; f.Held == 0 && line < leastLineMs {
		return false, fmt.Sprintf("nothing had to wait for what came before it, and what came at once takes %.3f ms at its rate", line)
	}
	if float64(f.Of) < f.Asked/10 {
		return true, "too little came at once to reach its rate"
	}
	says := fmt.Sprintf("what came while the line was busy passed at %s, of %s asked", amount(f.Measured, f.Unit), amount(f.Asked, f.Unit))
	switch {
	case f.Measured > mostRate*f.Asked:
		return false, says + fmt.Sprintf(" (at most %s counts as in force)", amount(mostRate*f.Asked, f.Unit))
	case f.Measured >= leastRate*f.Asked:
		return true, says
	case f.Held*2 < f.Bytes:
		return true, says + "; too little came, or it was taken too slowly, to reach that"
	}
	return false, says + fmt.Sprintf(" (at least %s counts as in force)", amount(leastRate*f.Asked, f.Unit))
}

// sliced: pieces of what was cut are larger than half of the size, whatever came.
func sliced(f record.Fault) (bool, string) {
	if f.Of == 0 {
		return false, fmt.Sprintf("nothing that came was larger than %s", amount(f.Asked, f.Unit))
	}
	ok := f.Measured > f.Asked/2-1 && f.Measured <= f.Asked
	return ok, fmt.Sprintf("what was cut passed in pieces of %s, of at most %s asked", amount(f.Measured, f.Unit), amount(f.Asked, f.Unit))
}

// oneChunk is what may be on its way in a relay when a toxic ends.
const oneChunk = 32 << 10

// swallowed: what came to it did not pass.
func swallowed(what string) effectOf {
	return func(f record.Fault) (bool, string) {
		says := fmt.Sprintf("%d bytes %s", f.Held, what)
		if f.Held+oneChunk < f.Bytes {
			return false, says + fmt.Sprintf(", of %d that came", f.Bytes)
		}
		return true, says
	}
}

// exactly: so many bytes passed before each end.
func exactly(f record.Fault) (bool, string) {
	ok := f.Measured >= leastBytes*f.Asked && f.Measured <= f.Asked
	return ok, fmt.Sprintf("after %s, of %s asked", amount(f.Measured, f.Unit), amount(f.Asked, f.Unit))
}

// ended: it brought connections to an end, each as was asked for.
func ended(how string, count func(record.Fault) int64, and effectOf) effectOf {
	return func(f record.Fault) (bool, string) {
		n := count(f)
		if n == 0 || f.Of == 0 {
			return false, fmt.Sprintf("none of them was %s by it", how)
		}
		ok, why := and(f)
		return ok, fmt.Sprintf("%d were %s by it, %s", n, how, why)
	}
}

// amount is a number with its unit.
func amount(v float64, unit string) string {
	if unit == "ms" {
		return fmt.Sprintf("%.2f ms", v)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
