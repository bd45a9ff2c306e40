package dsl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// holeKey says when two holes are the same.
type holeKey struct {
	n    *node
	i    int
	when Time
}

// hole returns the hole that is the i-th of a scalar, always the same one for the same use of it.
func (d *decoder) hole(n *node, i int, want string, f *field) *Hole {
	k := holeKey{n, i, f.when}
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	if h := d.l.holes[k]; h != nil {
		return h
	}
	s := n.holes[i]
	h := &Hole{Text: s.text, Whole: d.isWhole(n), Want: want, When: f.when, Field: f.path(), n: n, start: s.start}
	d.l.holes[k] = h
	return h
}

// filled returns the node with which a scalar's holes are filled; false if they cannot be filled now (they are noted)
// or are wrong (which is reported).
func (d *decoder) filled(n *node, want string, f *field) (*node, bool) {
	if f.noHole {
		d.errorf(n, "%s: no expression can stand here", f.name()).Hint = "write the value itself"
		return n, false
	}
	vals := make([]any, len(n.holes))
	ok := true
	for i := range n.holes {
		h := d.hole(n, i, want, f)
		if d.fill == nil {
			d.holes = append(d.holes, h)
			ok = false
			continue
		}
		val, known, err := d.fill(h)
		if err != nil {
			d.probs.Addf(n.posIn(n.holes[i].start), "%s: %v", f.name(), err).Hint = "see the expression"
			return n, false
		}
		if v, is := val.(Value); is && !(v.n != nil && (v.n.kind != scalarNode || len(v.n.holes) == 0)) {
			known = false
		}
		if !known {
			d.holes = append(d.holes, h)
			ok = false
			continue
		}
		vals[i] = val
	}
	if !ok {
		return n, false
	}
	var out *node
	var err error
	if d.isWhole(n) {
		out, err = nodeFrom(vals[0], n)
	} else {
		out, err = mixed(n, vals)
	}
	if err != nil {
		d.errorf(n, "%s: want %s, %v", f.name(), want, err).Hint = "change the expression"
		return n, false
	}
	return out, true
}

// nodeFrom makes a node of a value, at the place of the scalar that it fills.
func nodeFrom(val any, at *node) (*node, error) {
	scalar := func(text string, val any) *node {
		_, isText := val.(string)
		return &node{kind: scalarNode, src: at.src, line: at.line, col: at.col, text: text, filled: true, val: val, quoted: isText, size: 1}
	}
	switch v := val.(type) {
	case Value:
		if v.n.kind != scalarNode {
			return v.n, nil
		}
		n := scalar(v.n.text, anyOf(v.n))
		if n.from = v.n.src; v.n.from != nil {
			n.from = v.n.from
		}
		return n, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the value is not a number that can be used (%v)", v)
		}
		return scalar(formatNumber(v), v), nil
	case int:
		return nodeFrom(float64(v), at)
	case int64:
		return nodeFrom(float64(v), at)
	case string:
		return scalar(v, v), nil
	case bool:
		return scalar(fmt.Sprint(v), v), nil
	case []any:
		n := &node{kind: listNode, src: at.src, line: at.line, col: at.col}
		for _, it := range v {
			c, err := nodeFrom(it, at)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, c)
		}
		return n.sum(), nil
	case map[string]any:
		n := &node{kind: mapNode, src: at.src, line: at.line, col: at.col}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c, err := nodeFrom(v[k], at)
			if err != nil {
				return nil, err
			}
			n.fields = append(n.fields, nodeField{keyAt(k, at), c})
		}
		return n.sum(), nil
	}
	return nil, fmt.Errorf("the value is %v", val)
}

// mixed puts values into the text around them.
func mixed(n *node, vals []any) (*node, error) {
	r := []rune(n.text)
	var b strings.Builder
	last := 0
	for i, s := range n.holes {
		c, err := nodeFrom(vals[i], n)
		if err != nil {
			return nil, err
		}
		if c.kind != scalarNode {
			return nil, fmt.Errorf("%s cannot stand in a text", c.describe())
		}
		b.WriteString(string(r[last:s.begin]))
		b.WriteString(c.text)
		last = s.end
	}
	b.WriteString(string(r[last:]))
	text := b.String()
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("the text is not UTF-8")
	}
	// The text is read as if it had been written plainly: "${{ n }}s" is a duration.
	return &node{kind: scalarNode, src: n.src, line: n.line, col: n.col, text: text, filled: true, val: text, size: 1}, nil
}
