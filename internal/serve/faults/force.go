package faults

import (
	"cmp"
	"slices"
	"time"
)

// faults are the toxics in force at a relay; relay.mu guards them.
type faults []*fault

type fault struct {
	name   string
	stream string
	place  int // of its kind
	toxic  toxic
	expiry *time.Timer
}

// put adds a fault, in the place of one of its name, for as long as ttl.
func (r *relay) put(f fault, ttl time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	added := &f
	r.faults = r.faults.without(f.name)
	added.expiry = time.AfterFunc(ttl, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if i := slices.Index(r.faults, added); i >= 0 {
			r.faults = slices.Delete(r.faults, i, i+1)
			r.apply()
		}
	})
	r.faults = append(r.faults, added)
	r.apply()
}

// remove takes a fault away; it is false if there is none of the name.
func (r *relay) remove(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.faults)
	r.faults = r.faults.without(name)
	r.apply()
	return len(r.faults) < before
}

func (f faults) without(name string) faults {
	return slices.DeleteFunc(f, func(f *fault) bool {
		if f.name == name {
			f.expiry.Stop()
		}
		return f.name == name
	})
}

// apply puts what is in force where the links read it.
func (r *relay) apply() {
	for name, p := range map[string]*permanent{Upstream: r.up, Downstream: r.down} {
		var mine faults
		for _, f := range r.faults {
			if f.stream == name {
				mine = append(mine, f)
			}
		}
		slices.SortStableFunc(mine, func(a, b *fault) int { return cmp.Compare(a.place, b.place) })
		var next *setting
		if len(mine) > 0 {
			next = &setting{over: make(chan struct{})}
			for _, f := range mine {
				next.toxics = append(next.toxics, f.toxic)
				next.names = append(next.names, f.name)
			}
		}
		if before := p.current.Swap(next); before != nil {
			close(before.over)
		}
	}
}
