package dsl

import "github.com/planrun/planrun/dsl/diag"

type nodeKind int

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

type node struct {
	kind   nodeKind
	text   string
	items  []*node
	fields []nodeField
}

type nodeField struct{ key, val *node }
type lang struct{}
type field struct{}

func (n *node) pos() diag.Pos                                  { return diag.Pos{} }
func (n *node) posIn(int) diag.Pos                             { return diag.Pos{} }
func (n *node) get(string) *node                               { return nil }
func (n *node) hasHoles() bool                                 { return false }
func valueOf(n *node) Value                                    { return Value{} }
func bind[T any](p *Part[T], fill Filler) (Part[T], diag.List) { return *p, nil }

// A Check collects what is wrong with one spec.
type Check struct{}

// Errorf reports a problem with the named YAML field of the spec; "" is the spec itself.
func (c *Check) Errorf(field, format string, args ...any) {}

// Warnf is Errorf for a warning.
func (c *Check) Warnf(field, format string, args ...any) {}
