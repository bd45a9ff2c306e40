package record

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A reader decodes what a set holds. What its runs and cells have in common is in memory once, for as long as they are.
type reader struct {
	options json2.Options // those of alike; tables get their names from names
	names   nameLists
	reasons *alikeMaps
}

func newReader() *reader {
	r := &reader{reasons: newAlikeMaps()}
	r.options = json2.JoinOptions(alike, json2.WithUnmarshalers(json2.JoinUnmarshalers(
		tablesWith(&r.names, number), tablesWith(&r.names, value))))
	return r
}

// tablesWith decodes tables as Table.UnmarshalJSON does, without a map: names that were read before are found by their text.
func tablesWith[V any](names *nameLists, one func(*jsontext.Decoder) (V, error)) *json2.Unmarshalers {
	readings := sync.Pool{New: func() any { return new(reading[V]) }}
	return json2.UnmarshalFromFunc(func(d *jsontext.Decoder, t *Table[V]) error {
		r := readings.Get().(*reading[V])
		defer readings.Put(r)
		if err := r.read(d, one); err != nil {
			return err
		}
		list, ascending, err := names.of(r.names)
		if err != nil {
			return err
		}
		if *t = (Table[V]{list, slices.Clone(r.values)}); !ascending {
			*t = *tableOf(t.Map())
		}
		clear(r.values)
		return nil
	})
}

// number decodes a value of a run.
func number(d *jsontext.Decoder) (float64, error) {
	t, err := d.ReadToken()
	if err != nil || t.Kind() != jsontext.KindNumber {
		return 0, cmp.Or(err, errors.New("a metric's value is no number"))
	}
	return t.Float()
}

// value decodes a value of a cell.
func value(d *jsontext.Decoder) (v Value, err error) {
	err = decodeNext(d, &v)
	return v, err
}

// A reading is a table that is read: its names as they stand in the text, a list but for its end, and its values.
type reading[V any] struct {
	names  []byte
	values []V
}

func (r *reading[V]) read(d *jsontext.Decoder, one func(*jsontext.Decoder) (V, error)) error {
	r.names, r.values = append(r.names[:0], '['), r.values[:0]
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return cmp.Or(err, errors.New("metrics are no object"))
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
		v, err := one(d)
		if err != nil {
			return err
		}
		r.values = append(r.values, v)
	}
	_, err := d.ReadToken()
	return err
}

// nameLists are all lists of names that a reader met, by their text. The zero value has none.
type nameLists struct {
	mu    sync.RWMutex
	lists map[string]nameList
}

type nameList struct {
	names     []string
	ascending bool
}

// of gives the list of a reading's names, and whether they are ascending, each once.
func (l *nameLists) of(text []byte) (names []string, ascending bool, err error) {
	l.mu.RLock()
	found, ok := l.lists[string(text)]
	l.mu.RUnlock()
	if ok {
		return found.names, found.ascending, nil
	}
	if err := decode(append(text, ']'), &names); err != nil {
		return nil, false, err
	}
	ascending = true
	for i := 1; i < len(names); i++ {
		ascending = ascending && names[i-1] < names[i]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lists == nil {
		l.lists = map[string]nameList{}
	}
	if first, ok := l.lists[string(text)]; ok { // of another goroutine
		return first.names, first.ascending, nil
	}
	l.lists[string(text)] = nameList{names, ascending}
	return names, ascending, nil
}
