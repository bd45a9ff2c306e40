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

// mostShared bounds the ways of sharing that are told.
const mostShared = 3

// shared says in the findings which roles share CPUs, in how many runs, and what that means for the figures.
func (b *builder) shared() []Text {
	if b.in.Environment == nil {
		return nil
	}
	machine := b.in.Environment.CPUIDs
	for c := 0; len(machine) < b.in.Environment.CPUs; c++ { // which they are was not recorded
		machine = append(machine, c)
	}
	var order []sharing
	runs := map[string][]*record.Run{}
	for _, r := range b.in.Runs {
		for _, s := range sharingsOf(r, machine) {
			k := fmt.Sprint(s)
			if runs[k] == nil {
				order = append(order, s)
			}
			runs[k] = append(runs[k], r)
		}
	}
	if len(order) == 0 {
		return nil
	}
	t := text()
	for i, s := range order[:min(len(order), mostShared)] {
		who := s.who()
		if i == 0 {
			who = upper(who)
		} else {
			t = append(t, Span{Text: "; "})
		}
		t = append(t, strong(who), Span{Text: " (in "})
		t = append(t, text(b.inRuns(runs[fmt.Sprint(s)]), ")")...)
	}
	if more := len(order) - mostShared; more > 0 {
		t = append(t, Span{Text: fmt.Sprintf("; and %d more such (run.json has the CPUs of each process)", more)})
	}
	return []Text{append(t, Span{Text: ". " + meaning(order)})}
}

// sharingsOf are those of a run, where planrun may use the CPUs of machine: what is not pinned may run on all. CPUs with the same roles are together.
func sharingsOf(r *record.Run, machine []int) (out []sharing) {
	on := map[int][]string{}
	for _, role := range onTheWay {
		for _, p := range r.Processes {
			cpus := p.CPUs
			if len(cpus) == 0 {
				cpus = machine
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

// who: the target and the backends share CPU 0.
func (s sharing) who() string {
	var names []string
	for _, role := range s.roles {
		names = append(names, roleWords[role])
	}
	cpus := "CPU "
	if len(s.cpus) > 1 {
		cpus = "CPUs "
	}
	return and(names) + " share " + cpus + cpuList(s.cpus)
}

// meaning says what sharings mean for the figures.
func meaning(all []sharing) string {
	with := func(roles ...string) bool {
		return slices.ContainsFunc(all, func(s sharing) bool {
			return !slices.ContainsFunc(roles, func(role string) bool { return !slices.Contains(s.roles, role) })
		})
	}
	var parts []string
	if with("sut", "backends") || with("sut", "relays") {
		parts = append(parts, "Rates and latencies are of the target and what shares its CPUs together, and where these have no time to spare a difference between targets shows smaller than it is; CPU figures of the target are its own.")
	}
	if with("load") {
		parts = append(parts, "The load generator takes CPU time from what it shares with, and waits for it; the guards generator-cpu and send-lag say where that was too much.")
	}
	if parts == nil {
		parts = append(parts, "What one of them uses the other has not.")
	}
	return strings.Join(parts, " ")
}
