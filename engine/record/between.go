package record

import (
	"slices"
	"strings"
)

// between ends the name of what is no phase of the plan.
const between = " →"

// Between names, as a load reports it, what becomes due behind a phase and before the next one begins: there is time
// between the two where something has to be judged, prepared or drained.
func Between(phase string) string { return phase + between }

// IsBetween reports whether a name is one of Between.
func IsBetween(name string) bool { return strings.HasSuffix(name, between) }

// PhaseWords says in words what a load reports as a phase.
func PhaseWords(name string) string {
	if before, is := strings.CutSuffix(name, between); is {
		return "between " + before + " and the next phase"
	}
	return name
}

// Counts reports whether what became due of a load in a phase counts as outcomes of the run: in recorded phases, and behind
// one if the load goes on into the next. A load that does not is told to stop when its phase is over, and what it sends until
// it hears that is measured by nobody.
func (r *Run) Counts(l *Load, phase string) bool {
	before, behind := strings.CutSuffix(phase, between)
	i := slices.IndexFunc(r.Phases, func(p Phase) bool { return p.Name == before })
	switch {
	case i < 0 || !r.Phases[i].Recorded:
		return false
	case !behind:
		return true
	}
	return r.followed(i) && (l.Stopped == 0 || l.Stopped > r.Phases[i+1].Start)
}

// followed reports whether the phase behind the ith one began. One that was broken off while it was prepared has no length.
func (r *Run) followed(i int) bool {
	if i+1 >= len(r.Phases) {
		return false
	}
	next := r.Phases[i+1]
	return next.Start > 0 && next.Start != next.End
}
