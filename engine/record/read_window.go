package record

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom is UnmarshalJSON without a map: names that were read before are found by their text.
func (w *Window) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r := readings.Get().(*reading)
	defer readings.Put(r)
	if err := r.read(d); err != nil {
		return err
	}
	names, err := r.known()
	if err != nil {
		return err
	}
	w.names, w.values = names, slices.Clone(r.values)
	return nil
}

// A reading is a window that is read: its names as they stand in the text, and its values.
type reading struct {
	names  []byte
	values []float64
}

var readings = sync.Pool{New: func() any { return new(reading) }}

func (r *reading) read(d *jsontext.Decoder) error {
	r.names, r.values = append(r.names[:0], '['), r.values[:0]
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return cmp.Or(err, errNotPlain)
	}
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		if len(r.values) > 0 {
			r.names = append(r.names, ',')
		}
		r.names = append(r.names, name...)
		t, err := d.ReadToken()
		if err != nil || t.Kind() != jsontext.KindNumber {
			return cmp.Or(err, errNotPlain)
		}
		v, err := t.Float()
		if err != nil {
			return err
		}
		r.values = append(r.values, v)
	}
	_, err := d.ReadToken()
	return err
}

// errNotPlain leaves a window to UnmarshalJSON: it is no object of numbers, or its names are not in order.
var errNotPlain = errors.New("no plain window")

// tables has all lists of names that were read, by their text.
var tables = struct {
	sync.RWMutex
	of map[string][]string
}{of: map[string][]string{}}

// known gives the list of the names.
func (r *reading) known() ([]string, error) {
	tables.RLock()
	names, ok := tables.of[string(r.names)]
	tables.RUnlock()
	if ok {
		return names, nil
	}
	if err := decode(append(r.names, ']'), &names); err != nil {
		return nil, err
	}
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			return nil, errNotPlain
		}
	}
	tables.Lock()
	defer tables.Unlock()
	if first, ok := tables.of[string(r.names)]; ok { // of another goroutine
		return first, nil
	}
	tables.of[string(r.names)] = names
	return names, nil
}
