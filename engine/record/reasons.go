package record

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// alikeMaps are why metrics are missing in the runs that a reader met. In most runs of a set the same ones are missing for the
// same reasons: these share one map, which nobody changes.
type alikeMaps struct {
	hash func(map[string]string) uint64 // of equal maps the same

	mu   sync.Mutex
	seen map[uint64][]map[string]string // by hash
}

func newAlikeMaps() *alikeMaps {
	seed := maphash.MakeSeed()
	hash := func(m map[string]string) (sum uint64) {
		for k, v := range m {
			sum += maphash.Comparable(seed, [2]string{k, v})
		}
		return sum
	}
	return &alikeMaps{hash: hash, seen: map[uint64][]map[string]string{}}
}

// shared gives the first of the maps that are equal to m. Runs that are read at once wait for each other only while it is looked
// for, not while theirs are hashed.
func (a *alikeMaps) shared(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	sum := a.hash(m)
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.seen[sum], func(x map[string]string) bool { return maps.Equal(x, m) })
	if i >= 0 {
		return a.seen[sum][i]
	}
	a.seen[sum] = append(a.seen[sum], m)
	return m
}
