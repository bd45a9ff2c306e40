package actions

import (
	"fmt"
	"math"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

// A toxicKey is a key of the action that says what is bad; ask is what a relay is asked for then, nil if it was not
// written. Its name is that of the relay's kind.
type toxicKey struct {
	name  string
	whole bool // it has no direction
	ask   func(*toxic) *task.Toxic
}

// toxicKeys are all of them, in the order in which relays let them act.
var toxicKeys = []toxicKey{
	{"refuse", true, func(t *toxic) *task.Toxic { return when(t.Refuse, faults.Refuse{}, "refuse") }},
	{"blackhole", true, func(t *toxic) *task.Toxic { return when(t.Blackhole, faults.Blackhole{}, "blackhole") }},
	{"stall", false, func(t *toxic) *task.Toxic { return when(t.Stall, faults.Stall{}, "stall") }},
	{"timeout", true, func(t *toxic) *task.Toxic {
		return after(t.Timeout, func(d time.Duration) any { return faults.Timeout{Timeout: d} }, "timeout of %v")
	}},
	{"latency", false, func(t *toxic) *task.Toxic {
		a := after(t.Latency, func(time.Duration) any { return t.latency() }, "latency of %v"+t.jittered())
		if a != nil {
			a.Spread = float64(t.latency().Deviation()) / float64(time.Millisecond)
		}
		return a
	}},
	{"bandwidth", false, func(t *toxic) *task.Toxic {
		if t.Bandwidth == 0 {
			return nil
		}
		says := fmt.Sprintf("bandwidth of %s/s", inBytes(float64(t.Bandwidth)))
		if t.Shared {
			says += ", shared"
		}
		return &task.Toxic{Says: says, Attributes: faults.Bandwidth{Rate: float64(t.Bandwidth), Shared: t.Shared}, Asked: float64(t.Bandwidth), Unit: "B/s"}
	}},
	{"slice", false, func(t *toxic) *task.Toxic {
		if t.Slice == 0 {
			return nil
		}
		return upTo(&t.Slice, func(n int64) any { return faults.Slice{Size: int(n), Delay: t.SliceDelay} }, "slices of ")
	}},
	{"limit-data", false, func(t *toxic) *task.Toxic {
		return upTo(t.LimitData, func(n int64) any { return faults.LimitData{Bytes: n} }, "end after ")
	}},
	{"reset-after", false, func(t *toxic) *task.Toxic {
		return upTo(t.ResetAfter, func(n int64) any { return faults.ResetAfter{Bytes: n} }, "reset after ")
	}},
	{"slow-close", false, func(t *toxic) *task.Toxic {
		return after(t.SlowClose, func(d time.Duration) any { return faults.SlowClose{Delay: d} }, "slow-close of %v")
	}},
}

func when(on bool, attributes any, says string) *task.Toxic {
	if !on {
		return nil
	}
	return &task.Toxic{Says: says, Attributes: attributes}
}

func after(d *dsl.Duration, attributes func(time.Duration) any, says string) *task.Toxic {
	if d == nil {
		return nil
	}
	return &task.Toxic{Says: fmt.Sprintf(says, *d), Attributes: attributes(*d), Asked: float64(*d) / float64(time.Millisecond), Unit: "ms"}
}

func upTo(n *dsl.Size, attributes func(int64) any, says string) *task.Toxic {
	if n == nil {
		return nil
	}
	return &task.Toxic{Says: says + inBytes(float64(*n)), Attributes: attributes(int64(*n)), Asked: float64(*n), Unit: "B"}
}

// presets are what a preset stands for.
var presets = map[string]toxic{
	"latency":   {Latency: new(100 * time.Millisecond), Jitter: 10 * time.Millisecond},
	"bandwidth": {Bandwidth: 64 << 10},
	"reset":     {ResetAfter: new(dsl.Size(1 << 10))},
	"stall":     {Stall: true},
	"blackhole": {Blackhole: true},
}

// asks is what the relay is asked for; it is false where that is not known yet.
func (t *toxic) asks() (task.Toxic, bool) {
	of := *t
	if t.Preset != "" {
		of = presets[t.Preset]
	}
	for _, k := range toxicKeys {
		a := k.ask(&of)
		if a == nil {
			continue
		}
		a.Kind, a.Direction, a.Seed = k.name, t.Direction, uint64(t.Seed)
		if k.whole {
			a.Direction = "both"
		}
		if t.Share > 0 && t.Share < 1 {
			a.Share = float64(t.Share)
			a.Says += fmt.Sprintf(", %.4g %% of connections", 100*a.Share)
		}
		return *a, true
	}
	return task.Toxic{}, false
}

// Asks says what is asked of which relay, and by which key; known is false where expressions still stand for that.
func (t *toxic) Asks() (relay, key string, asked task.Toxic, known bool) {
	asked, known = t.asks()
	if key = asked.Kind; t.Preset != "" {
		key = "preset"
	}
	return t.Relay, key, asked, known
}

func (t *toxic) latency() faults.Latency {
	return faults.Latency{Latency: *t.Latency, Jitter: t.Jitter, Distribution: t.Distribution}
}

// jittered says how a latency varies.
func (t *toxic) jittered() string {
	switch {
	case t.Jitter == 0:
		return ""
	case t.Distribution == "" || t.Distribution == "uniform":
		return fmt.Sprintf(" ± %v", t.Jitter)
	}
	return fmt.Sprintf(", %s with a deviation of %v", t.Distribution, t.Jitter)
}

// inBytes writes a size as plans do: 64KiB, 1500B.
func inBytes(n float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= u.size && math.Mod(n, u.size) == 0 {
			return fmt.Sprintf("%g%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%gB", n)
}
