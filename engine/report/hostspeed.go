package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/internal/plural"
)

// mostSlowed bounds the comparisons that are named.
const mostSlowed = 4

// slowed says which comparisons are of targets for which the machine was not equally fast, as a fixed piece of work told. It
// withdraws nothing: where CPUs share a core, what a target leaves to the load of it shows in that work too.
func (b *builder) slowed() []Text {
	var parts []string
	for _, g := range b.comparable() {
		if s := b.slowest(g.units); s != "" {
			parts = append(parts, g.name+" ("+s+")")
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []Text{text(doubtful("The host was not equally fast"), " for all targets of "+plural.Of(len(parts), "comparison")+": ", list(parts, mostSlowed), ". CPU times and rates may differ for that alone (",
		mono("host_speed"), " is the rate of a fixed piece of work, by its own CPU time).")}
}

// slowest says for which target the machine was the slowest, and by how much; "" if it was equally fast for all.
func (b *builder) slowest(units []unit) string {
	var slow, fast unit
	var low, high float64
	for _, u := range units {
		r := b.read(u, compare.ParseName("host_speed"))
		if r.Why != "" {
			continue
		}
		if low == 0 || r.Value < low {
			slow, low = u, r.Value
		}
		if r.Value > high {
			fast, high = u, r.Value
		}
	}
	if low == high {
		return ""
	}
	c, apart := compare.HostSpeed(b.side(units, slow.at("target")), b.side(units, fast.at("target")))
	if !apart {
		return ""
	}
	return fmt.Sprintf("%.0f %% slower for %s than for %s", 100*(1-c.Ratio.Value), oneLine(slow.at("target")), oneLine(fast.at("target")))
}
