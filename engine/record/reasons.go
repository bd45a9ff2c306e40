package record

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// alikeMaps are why metrics are missing in the runs that a reader met. In most runs of a set the same ones are missing for the
// same reasons: these share one map, which nobody changes. The zero value has none.
type alikeMaps struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64][]map[string]string // by hash
}

// shared gives the first of the maps that are equal to m.
func (a *alikeMaps) shared(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seed, a.seen = maphash.MakeSeed(), map[uint64][]map[string]string{}
	}
	var sum uint64
	for k, v := range m {
		sum += maphash.Comparable(a.seed, [2]string{k, v})
	}
	i := slices.IndexFunc(a.seen[sum], func(x map[string]string) bool { return maps.Equal(x, m) })
	if i >= 0 {
		return a.seen[sum][i]
	}
	a.seen[sum] = append(a.seen[sum], m)
	return m
}
