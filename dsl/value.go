package dsl

import "github.com/planrun/planrun/dsl/diag"

// A Value is something written in the plan whose type no field says: a param, a knob, a var, a value of a matrix axis.
type Value struct {
	// Written is the text as written ("64KiB"); empty for lists and maps.
	Written string
	// V is the value that expressions see: float64, string, bool, []any or map[string]any. A number with a unit is a
	// number in its base unit: 5s is 5, 64KiB is 65536, 200/s is 200, 2% is 0.02. Nil where an unfilled hole is.
	V any

	n *node
}

// IsSet reports whether a value was written.
func (v Value) IsSet() bool { return v.n != nil }

// Pos is where the value was written.
func (v Value) Pos() diag.Pos { return v.n.pos() }

// Known reports whether no hole of the value is unfilled.
func (v Value) Known() bool { return v.n != nil && !v.n.hasHoles() }

// Items returns the elements of a list, each with its place; nil if the value is no list.
func (v Value) Items() []Value {
	if v.n == nil || v.n.kind != listNode {
		return nil
	}
	out := make([]Value, len(v.n.items))
	for i, it := range v.n.items {
		out[i] = valueOf(it)
	}
	return out
}

// Fields returns the entries of a map in the order written, each with its place; nil if the value is no map.
func (v Value) Fields() Map[Value] {
	if v.n == nil || v.n.kind != mapNode {
		return nil
	}
	var out Map[Value]
	for _, f := range v.n.fields {
		out = append(out, Entry[Value]{Name: f.key.text, Pos: f.key.pos(), Val: valueOf(f.val)})
	}
	return out
}

// A Map is a mapping in the order in which it was written.
type Map[T any] []Entry[T]

// An Entry is one key of a Map with its value.
type Entry[T any] struct {
	Name string
	Pos  diag.Pos // of the key
	Val  T
}

// Get returns the value of a key.
func (m Map[T]) Get(name string) (T, bool) {
	for _, e := range m {
		if e.Name == name {
			return e.Val, true
		}
	}
	var none T
	return none, false
}

// Names returns the keys in order.
func (m Map[T]) Names() []string {
	out := make([]string, len(m))
	for i, e := range m {
		out[i] = e.Name
	}
	return out
}
