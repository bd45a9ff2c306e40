package record

import "slices"

// Alike are toxics that were asked for in the same words, at the same relay, in the same phase: one that comes and goes. Its
// counters are those of all of them together, its effect is their mean, and it lasts from the first to the last.
type Alike struct {
	Fault
	Times int
}

// Toxics puts those that are alike together, in the order of their first. Faults of other kinds are not among them.
func (f Facts) Toxics() (all []Alike) {
	for _, x := range f.Faults {
		if x.Kind != "" {
			continue
		}
		i := slices.IndexFunc(all, func(a Alike) bool {
			return a.Relay == x.Relay && a.Toxic == x.Toxic && a.Says == x.Says && a.Phase == x.Phase && a.Unit == x.Unit && a.Asked == x.Asked
		})
		if i < 0 {
			all = append(all, Alike{x, 1})
			continue
		}
		all[i].add(x)
	}
	return all
}

func (a *Alike) add(x Fault) {
	a.Times++
	a.End = max(a.End, x.End)
	if a.Gone == "" {
		a.Gone = x.Gone
	}
	a.Connections, a.Chunks, a.Bytes, a.Held = a.Connections+x.Connections, a.Chunks+x.Chunks, a.Bytes+x.Bytes, a.Held+x.Held
	a.Resets, a.Closed, a.Refused, a.Inexact = a.Resets+x.Resets, a.Closed+x.Closed, a.Refused+x.Refused, a.Inexact || x.Inexact
	if of := a.Of + x.Of; of > 0 {
		a.Measured = (a.Measured*float64(a.Of) + x.Measured*float64(x.Of)) / float64(of)
		a.Of = of
	}
}
