package dsl

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl/diag"
)

type nodeKind int

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
	nullNode
)

// A node is a piece of a plan with the place where it was written. Nodes never change once they are made: merging and
// filling make new ones, which share what stayed the same.
type node struct {
	kind      nodeKind
	src       *source
	line, col int
	style     yaml.Style
	text      string      // of a scalar
	items     []*node     // of a list
	fields    []nodeField // of a map

	holes []holeSpan // the expressions of a scalar
	open  bool       // this or something below has holes

	filled bool    // a scalar that came from a hole: its value is val, and text is how val is written
	val    any     // float64, string or bool
	from   *source // where the text of a filled scalar was written, if elsewhere: paths resolve there

	quoted bool // a scalar that can only be text
	short  bool // a map that was written as a bare scalar or list
	joined bool // a map with which what it uses has been merged
	bare   bool // a map without what it builds on, which could not be found
	gone   bool // a null that removed something
	size   int  // nodes, aliases counted each time they are used
}

type nodeField struct{ key, val *node }

func (n *node) pos() diag.Pos {
	if n == nil || n.src == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: n.src.name, Line: n.line, Col: n.col}
}

// end is the place just past a scalar that was written plainly on one line; else no place.
func (n *node) end() diag.Pos {
	if n == nil || n.src == nil || n.kind != scalarNode || n.filled {
		return diag.Pos{}
	}
	p := n.pos()
	if n.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(n.text, "\n") {
		return diag.Pos{}
	}
	p = n.posIn(utf8.RuneCountInString(n.text))
	if p.Line != n.line {
		return diag.Pos{}
	}
	if n.style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		p.Col++
	}
	return p
}

// posIn is the place of a rune of a scalar's text, whatever the style in which it was written.
func (n *node) posIn(offset int) diag.Pos {
	if n == nil || n.src == nil {
		return diag.Pos{}
	}
	if n.kind != scalarNode || n.filled || n.line < 1 {
		return n.pos()
	}
	n.src.index()
	if n.line > len(n.src.lines) {
		return n.pos()
	}
	start := n.src.lines[n.line-1] + n.col - 1
	where, ok := align(n.src.runes, start, n.text, n.style)
	if !ok {
		return n.pos()
	}
	return n.src.at(where[max(0, min(offset, len(where)-1))])
}

// get returns the value of a key of a map, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mapNode {
		return nil
	}
	for _, f := range n.fields {
		if f.key.text == key {
			if f.val.gone {
				return nil
			}
			return f.val
		}
	}
	return nil
}

// with returns a copy of a map in which a key has another value; without a value, the key is left out.
func (n *node) with(key, val *node) *node {
	c := *n
	c.fields = make([]nodeField, 0, len(n.fields)+1)
	found := false
	for _, f := range n.fields {
		if f.key.text != key.text {
			c.fields = append(c.fields, f)
			continue
		}
		found = true
		if val != nil {
			c.fields = append(c.fields, nodeField{f.key, val})
		}
	}
	if !found && val != nil {
		c.fields = append(c.fields, nodeField{key, val})
	}
	return c.sum()
}

// sum recomputes what a list or map knows of its contents.
func (n *node) sum() *node {
	n.size, n.open = 1, len(n.holes) > 0
	for _, it := range n.items {
		n.size, n.open = n.size+it.size, n.open || it.open
	}
	for _, f := range n.fields {
		n.size, n.open = n.size+f.val.size, n.open || f.val.open
	}
	return n
}

func (n *node) hasHoles() bool { return n != nil && n.open }

// keyAt makes a key for a map that the plan did not write out, at the place of what it did write.
func keyAt(name string, at *node) *node {
	return &node{kind: scalarNode, src: at.src, line: at.line, col: at.col, text: name, filled: true, val: name, size: 1}
}

// mapOf makes a map of one field, at the place of its value.
func mapOf(name string, val *node) *node {
	n := &node{kind: mapNode, src: val.src, line: val.line, col: val.col, fields: []nodeField{{keyAt(name, val), val}}}
	return n.sum()
}

// describe says what a node is, for messages.
func (n *node) describe() string {
	switch n.kind {
	case listNode:
		return "a list"
	case mapNode:
		return "a mapping"
	case nullNode:
		return "nothing"
	}
	t := n.text
	if utf8.RuneCountInString(t) > 60 {
		t = string([]rune(t)[:57]) + "..."
	}
	if n.quoted {
		return "the text " + quote(t)
	}
	if t == "" {
		return "an empty text"
	}
	return quote(t)
}
