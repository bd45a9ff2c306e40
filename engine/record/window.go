package record

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Windows are the metrics of a run by window: "" is the headline; see the names of windows at Run.
type Windows map[string]*Window

// A Window has the metrics of one window of a run, each a name and a value.
type Window = Table[float64]

// CellWindows are the metrics of a cell by window, which are named as those of a run.
type CellWindows map[string]*CellWindow

// A CellWindow has the metrics of one window of a cell.
type CellWindow = Table[Value]

// A Table has metrics by name. There are many thousand in a large set, with the same names in every run and cell: they share them,
// and have their values side by side. A nil Table has none.
type Table[V any] struct {
	names  []string // ascending; never changed, others have the same slice
	values []V
}

// WindowOf has the metrics of m; nil if m is nil.
func WindowOf(m map[string]float64) *Window { return tableOf(m) }

// WindowsOf has the metrics of m, window -> metric -> value; nil if m is nil.
func WindowsOf(m map[string]map[string]float64) Windows { return tablesOf(m) }

// CellWindowOf has the metrics of m; nil if m is nil.
func CellWindowOf(m map[string]Value) *CellWindow { return tableOf(m) }

// CellWindowsOf has the metrics of m, window -> metric -> value; nil if m is nil.
func CellWindowsOf(m map[string]map[string]Value) CellWindows { return tablesOf(m) }

// CellWindowIn has a value for each name. Names are ascending, and not changed any more: tables share them.
func CellWindowIn(names []string, values []Value) *CellWindow { return &CellWindow{names, values} }

func tableOf[V any](m map[string]V) *Table[V] {
	if m == nil {
		return nil
	}
	t := &Table[V]{names: slices.Sorted(maps.Keys(m)), values: make([]V, 0, len(m))}
	for _, name := range t.names {
		t.values = append(t.values, m[name])
	}
	return t
}

func tablesOf[V any](m map[string]map[string]V) map[string]*Table[V] {
	if m == nil {
		return nil
	}
	out := make(map[string]*Table[V], len(m))
	for name, metrics := range m {
		out[name] = tableOf(metrics)
	}
	return out
}

// Get gives the value of a metric, and whether there is one.
func (t *Table[V]) Get(name string) (v V, ok bool) {
	if t == nil {
		return v, false
	}
	i, ok := slices.BinarySearch(t.names, name)
	if !ok {
		return v, false
	}
	return t.values[i], true
}

// Value is that of a metric; the zero value if there is none.
func (t *Table[V]) Value(name string) V {
	v, _ := t.Get(name)
	return v
}

// Names are those of the metrics, ascending. Tables with the same names may give the same slice, which is not to be changed.
func (t *Table[V]) Names() []string {
	if t == nil {
		return nil
	}
	return t.names
}

// All goes through the metrics in the order of their names.
func (t *Table[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i, name := range t.Names() {
			if !yield(name, t.values[i]) {
				return
			}
		}
	}
}

// Set sets the value of a metric.
func (t *Table[V]) Set(name string, v V) {
	i, ok := slices.BinarySearch(t.names, name)
	if !ok {
		t.names, t.values = slices.Insert(slices.Clone(t.names), i, name), slices.Insert(t.values, i, v)
	}
	t.values[i] = v
}

// Map has the same metrics.
func (t *Table[V]) Map() map[string]V {
	if t == nil {
		return nil
	}
	return maps.Collect(t.All())
}

// Equal reports whether both have the same metrics with the same values; one of none is not nil.
func (t *Table[V]) Equal(other *Table[V]) bool {
	if t == nil || other == nil {
		return t == other
	}
	return slices.Equal(t.names, other.names) && (len(t.names) == 0 || reflect.DeepEqual(t.values, other.values))
}

// MarshalJSON encodes an object, metric -> value.
func (t *Table[V]) MarshalJSON() ([]byte, error) { return encode(t) }

// MarshalJSONTo is MarshalJSON without a text of its own.
func (t *Table[V]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i, name := range t.names {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := json2.MarshalEncode(e, &t.values[i]); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (t *Table[V]) UnmarshalJSON(b []byte) error {
	var m map[string]V
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*t = *tableOf(m)
	return nil
}
