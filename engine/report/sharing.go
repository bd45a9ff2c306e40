package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// onTheWay are the roles of what a request passes, in the order in which they are named, and how they are.
var onTheWay = []string{"sut", "backends", "relays", "load"}

var roleWords = map[string]string{"sut": "the target", "backends": "the backends", "relays": "the relays", "load": "the load generator"}

// A sharing is roles of which each may run on the same CPUs.
type sharing struct {
	roles []string
	cpus  []int
}

func (s sharing) has(role string) bool { return slices.Contains(s.roles, role) }

// mostShared bounds the ways of sharing that are told.
const mostShared = 3

// shared says in the findings which roles share CPUs, in how many runs, and what that means for the figures.
func (b *builder) shared() (items []Text) {
	if b.in.Environment == nil {
		return nil
	}
	var order []sharing
	runs := map[string][]*record.Run{}
	for _, r := range b.in.Runs {
		for _, s := range sharingsOf(r, b.in.Environment.CPUs) {
			k := fmt.Sprint(s)
			if runs[k] == nil {
				order = append(order, s)
			}
			runs[k] = append(runs[k], r)
		}
	}
	for _, s := range order[:min(len(order), mostShared)] {
		items = append(items, text(strong(s.who()), " (in "+b.inRuns(runs[fmt.Sprint(s)])+"): "+s.means()+"."))
	}
	if more := len(order) - mostShared; more > 0 {
		items = append(items, text(fmt.Sprintf("CPUs were shared in %d more ways; the runs' run.json have the CPUs of each process.", more)))
	}
	return items
}

// sharingsOf are those of a run, on a machine of so many CPUs: what is not pinned may run on all. CPUs with the same roles are together.
func sharingsOf(r *record.Run, machine int) (out []sharing) {
	on := map[int][]string{}
	for _, role := range onTheWay {
		for _, p := range r.Processes {
			cpus := p.CPUs
			for c := 0; len(p.CPUs) == 0 && c < machine; c++ {
				cpus = append(cpus, c)
			}
			for _, c := range cpus {
				if p.Role == role && !slices.Contains(on[c], role) {
					on[c] = append(on[c], role)
				}
			}
		}
	}
	for _, c := range sorted(on) {
		i := slices.IndexFunc(out, func(s sharing) bool { return slices.Equal(s.roles, on[c]) })
		switch {
		case len(on[c]) < 2:
		case i < 0:
			out = append(out, sharing{on[c], []int{c}})
		default:
			out[i].cpus = append(out[i].cpus, c)
		}
	}
	return out
}

// who: The target and the backends share CPU 0.
func (s sharing) who() string {
	var names []string
	for _, role := range s.roles {
		names = append(names, roleWords[role])
	}
	cpus := "CPU "
	if len(s.cpus) > 1 {
		cpus = "CPUs "
	}
	return upper(and(names)) + " share " + cpus + cpuList(s.cpus)
}

func (s sharing) means() string {
	var parts []string
	if s.has("sut") && (s.has("backends") || s.has("relays")) {
		parts = append(parts, "rates and latencies are of these together, and where they have no CPU to spare a difference between targets shows smaller than it is; CPU figures of the target are its own")
	}
	if s.has("load") {
		parts = append(parts, "the load generator takes CPU from what it measures, and waits for it; the guards generator-cpu and send-lag say where that was too much")
	}
	if parts == nil {
		parts = append(parts, "what one of them uses the other has not")
	}
	return strings.Join(parts, "; ")
}
