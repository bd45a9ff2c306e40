package record

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

// Windows are the metrics of a run by window: "" is the headline; see the names of windows at Run.
type Windows map[string]*Window

// A Window has the metrics of one window of a run, each a name and a value. There are many thousand in a large set, with the same
// names in every run: they share them. A nil Window has none.
type Window struct {
	names  []string // ascending; never changed, others have the same slice
	values []float64
}

// WindowOf has the metrics of m; nil if m is nil.
func WindowOf(m map[string]float64) *Window {
	if m == nil {
		return nil
	}
	w := &Window{names: slices.Sorted(maps.Keys(m)), values: make([]float64, 0, len(m))}
	for _, name := range w.names {
		w.values = append(w.values, m[name])
	}
	return w
}

// WindowsOf has the metrics of m, window -> metric -> value; nil if m is nil.
func WindowsOf(m map[string]map[string]float64) Windows {
	if m == nil {
		return nil
	}
	out := make(Windows, len(m))
	for name, metrics := range m {
		out[name] = WindowOf(metrics)
	}
	return out
}

// Get gives the value of a metric, and whether there is one.
func (w *Window) Get(name string) (float64, bool) {
	if w == nil {
		return 0, false
	}
	i, ok := slices.BinarySearch(w.names, name)
	if !ok {
		return 0, false
	}
	return w.values[i], true
}

// Value is that of a metric; 0 if there is none.
func (w *Window) Value(name string) float64 {
	v, _ := w.Get(name)
	return v
}

// Names are those of the metrics, ascending. Windows with the same names may give the same slice, which is not to be changed.
func (w *Window) Names() []string {
	if w == nil {
		return nil
	}
	return w.names
}

// All goes through the metrics in the order of their names.
func (w *Window) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, name := range w.Names() {
			if !yield(name, w.values[i]) {
				return
			}
		}
	}
}

// Set sets the value of a metric.
func (w *Window) Set(name string, v float64) {
	i, ok := slices.BinarySearch(w.names, name)
	if !ok {
		w.names, w.values = slices.Insert(slices.Clone(w.names), i, name), slices.Insert(w.values, i, 0)
	}
	w.values[i] = v
}

// Map has the same metrics.
func (w *Window) Map() map[string]float64 {
	if w == nil {
		return nil
	}
	return maps.Collect(w.All())
}

// Equal reports whether both have the same metrics with the same values; one of none is not nil.
func (w *Window) Equal(other *Window) bool {
	if w == nil || other == nil {
		return w == other
	}
	return slices.Equal(w.names, other.names) && slices.Equal(w.values, other.values)
}

// MarshalJSON encodes an object, metric -> value.
func (w *Window) MarshalJSON() ([]byte, error) { return encode(w.Map()) }

// UnmarshalJSON decodes what MarshalJSON encodes.
func (w *Window) UnmarshalJSON(b []byte) error {
	var m map[string]float64
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*w = *WindowOf(m)
	return nil
}
