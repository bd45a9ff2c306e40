package dsl

import "github.com/planrun/planrun/dsl/diag"

// A Part is a piece of the plan that keeps what was written, so that it can be bound to values again and again: first for
// a cell, with what is known before anything runs, then for each run. Val is the piece decoded, with unfilled holes left at
// their defaults.
type Part[T any] struct {
	Name string // its key where it stands in a mapping (a target's name); else empty
	Val  T
	part
}

// part is what a Part knows of its origin.
type part struct {
	l     *lang
	n     *node
	key   *node // where its name is, if it has one in a mapping
	body  *node // where the keys of the piece are
	f     *field
	holes []*Hole
	exprs []Expr
	later diag.List
}

// Pos is where the part begins: its name, where it has one in a mapping.
func (p *part) Pos() diag.Pos {
	if p.key != nil {
		return p.key.pos()
	}
	return p.n.pos()
}

// PosOf is the place of the value at a path of keys ("abort", "when"), or of the deepest one that was written.
func (p *part) PosOf(keys ...string) diag.Pos {
	n := p.body
	for _, k := range keys {
		next := n.get(k)
		if next == nil {
			break
		}
		n = next
	}
	return n.pos()
}

// Has reports whether a key was written (its value may be an unfilled hole). For a phase, a probe and an action the keys
// of the piece itself count, for an action those of its kind do not.
func (p *part) Has(key string) bool { return p.body.get(key) != nil }

// Holes returns the unfilled holes, in the order in which they were written, those of parts inside included.
func (p *part) Holes() []*Hole { return p.holes }

// Exprs returns the conditions, in the order in which they were written, those of parts inside included.
func (p *part) Exprs() []Expr { return p.exprs }

// Later returns a problem for everything in the part that is in the language but that this build cannot run.
func (p *part) Later() diag.List { return p.later }

// A Filler gives the value of a hole: float64, string, bool, []any, map[string]any, or a [Value] where the expression is
// nothing but a reference to something written in the plan (its text and its places are kept). If known is false the hole
// stays. An error is reported at the hole.
type Filler func(*Hole) (value any, known bool, err error)

// Bind fills the holes that fill knows, expands and merges what became known (load: "${{ scenario }}"), and decodes
// strictly. Holes that fill does not know stay, and Bind of the result can fill them later. Problems are at the plan's
// places.
func (p *Part[T]) Bind(fill Filler) (Part[T], diag.List) {
	return bind(p, fill)
}

// Parts are the parts of a mapping, in the order written, each with its Name.
type Parts[T any] []Part[T]

// Get returns the part of that name, or nil.
func (m Parts[T]) Get(name string) *Part[T] {
	for i := range m {
		if m[i].Name == name {
			return &m[i]
		}
	}
	return nil
}

// Names returns the names in order.
func (m Parts[T]) Names() []string {
	out := make([]string, len(m))
	for i := range m {
		out[i] = m[i].Name
	}
	return out
}
