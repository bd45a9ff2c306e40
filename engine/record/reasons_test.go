package record

import (
	"maps"
	"reflect"
	"testing"
)

// Equal maps are one, also where others have the same hash, and nobody waits while a map is hashed.
func TestAlikeMaps(t *testing.T) {
	t.Parallel()
	a, hashed := newAlikeMaps(), 0
	a.hash = func(m map[string]string) uint64 {
		if !a.mu.TryLock() {
			t.Error("others wait while a map is hashed")
			return 0
		}
		a.mu.Unlock()
		hashed++
		return 0
	}
	one, two := map[string]string{"x": "why", "y": "why"}, map[string]string{"x": "why not"}
	for _, first := range []map[string]string{one, two} {
		for range 2 {
			m := maps.Clone(first)
			if hashed < 2 || m["y"] == "" && hashed < 3 { // the first of its kind is to be what it came as
				m = first
			}
			if got := a.shared(m); reflect.ValueOf(got).Pointer() != reflect.ValueOf(first).Pointer() {
				t.Errorf("%v is not the first one", m)
			}
		}
	}
}
