package toxiproxy

import (
	"fmt"
	"math"
	"time"

	client "github.com/Shopify/toxiproxy/v2/client"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

// A Toxic as a Toxiproxy server has it.
type Toxic struct {
	Name, Type, Stream string
	Share              float64 // of the connections: its toxicity
	Attributes         client.Attributes
}

// A Cannot says why a Toxiproxy server cannot do what a plan asks of a toxic.
type Cannot struct {
	Field string // of the plan's toxic; that which names its kind, if it is empty
	Why   string
}

func (c *Cannot) Error() string { return c.Why }

// Of is what a server is asked for a toxic: one for each direction. Names are left to the caller.
func Of(t task.Toxic) ([]Toxic, *Cannot) {
	one := Toxic{Share: 1}
	if t.Share > 0 {
		one.Share = t.Share
	}
	if t.Seed != 0 {
		return nil, &Cannot{"seed", "a Toxiproxy server draws by itself, otherwise each time"}
	}
	no := one.fill(t.Attributes)
	if no != nil {
		return nil, no
	}
	var out []Toxic
	for _, stream := range map[string][]string{"up": {faults.Upstream}, "both": {faults.Upstream, faults.Downstream}}[t.Direction] {
		one.Stream = stream
		out = append(out, one)
	}
	if out == nil {
		one.Stream = faults.Downstream
		out = []Toxic{one}
	}
	return out, nil
}

// fill sets the type and the attributes.
func (x *Toxic) fill(attributes any) (no *Cannot) {
	set := func(typ string, attributes client.Attributes) {
		x.Type, x.Attributes = typ, attributes
	}
	switch a := attributes.(type) {
	case faults.Latency:
		if a.Jitter > 0 && a.Distribution != "" && a.Distribution != "uniform" {
			return &Cannot{"distribution", "a Toxiproxy server knows uniform jitter only"}
		}
		for field, d := range map[string]time.Duration{"latency": a.Latency, "jitter": a.Jitter} {
			if d%time.Millisecond != 0 {
				return &Cannot{field, fmt.Sprintf("a Toxiproxy server counts in whole milliseconds, %v is none", d)}
			}
		}
		set("latency", client.Attributes{"latency": a.Latency.Milliseconds(), "jitter": a.Jitter.Milliseconds()})
	case faults.Bandwidth:
		if a.Shared {
			return &Cannot{"shared", "a Toxiproxy server gives each connection its own bandwidth"}
		}
		rate := math.Round(a.Rate / 1000)
		if rate < 1 || math.Abs(rate*1000-a.Rate) > a.Rate/100 {
			return &Cannot{"", fmt.Sprintf("a Toxiproxy server counts in whole kB/s (1000 bytes a second), and %.0f B/s is more than 1 %% off the nearest", a.Rate)}
		}
		set("bandwidth", client.Attributes{"rate": int64(rate)})
	case faults.Slice:
		if a.Delay%time.Microsecond != 0 {
			return &Cannot{"slice-delay", fmt.Sprintf("a Toxiproxy server counts in whole microseconds, %v is none", a.Delay)}
		}
		set("slicer", client.Attributes{"average_size": a.Size, "size_variation": 0, "delay": a.Delay.Microseconds()})
	case faults.LimitData:
		set("limit_data", client.Attributes{"bytes": a.Bytes})
	case faults.SlowClose:
		if a.Delay%time.Millisecond != 0 {
			return &Cannot{"", fmt.Sprintf("a Toxiproxy server counts in whole milliseconds, %v is none", a.Delay)}
		}
		set("slow_close", client.Attributes{"delay": a.Delay.Milliseconds()})
	case faults.Blackhole:
		set("timeout", client.Attributes{"timeout": 0})
	case faults.Timeout:
		return &Cannot{"", "the timeout of a Toxiproxy server begins anew with each piece that comes"}
	case faults.Stall:
		return &Cannot{"", "a Toxiproxy server cannot hold what comes, it can only swallow it (blackhole)"}
	case faults.ResetAfter:
		return &Cannot{"", "a Toxiproxy server resets after a time and not after bytes, and no connection that lives already"}
	case faults.Refuse:
		return &Cannot{"", "a Toxiproxy server that refuses connections also cuts those that live"}
	default:
		return &Cannot{"", fmt.Sprintf("planrun does not know what to ask a Toxiproxy server for this (%T)", a)}
	}
	return nil
}
