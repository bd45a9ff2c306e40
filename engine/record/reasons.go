package record

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
)

// reasons are why metrics are missing in runs that were read. In most runs of a set the same ones are missing for the same
// reasons: these share one map, which nobody changes.
var reasons = alikeMaps{seed: maphash.MakeSeed(), seen: map[uint64][]map[string]string{}}

type alikeMaps struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[uint64][]map[string]string // by hash
}

// shared gives the first of the maps that are equal to m.
func (a *alikeMaps) shared(m map[string]string) map[string]string {
	if len(m) == 0 {
		return m
	}
	var sum uint64
	for k, v := range m {
		sum += maphash.Comparable(a.seed, [2]string{k, v})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.seen[sum], func(x map[string]string) bool { return maps.Equal(x, m) })
	if i >= 0 {
		return a.seen[sum][i]
	}
	a.seen[sum] = append(a.seen[sum], m)
	return m
}
