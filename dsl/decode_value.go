package dsl

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// expr reads a condition.
func (d *decoder) expr(n *node, v reflect.Value, f *field) *node {
	if n.kind != scalarNode {
		d.errorf(n, "%s: want an expression, have %s", f.name(), n.describe()).Hint = "quote the expression"
		return n
	}
	if len(n.holes) > 0 {
		p := d.probs.Addf(n.posIn(n.holes[0].begin), "%s: ${{ }} in a field that is an expression already", f.name())
		p.Hint = "write the expression without ${{ }}"
		return n
	}
	text := strings.TrimLeft(n.text, " \t\n")
	lead := len([]rune(n.text)) - len([]rune(text))
	text = strings.TrimRight(text, " \t\n")
	if text == "" {
		if n.style&yaml.TaggedStyle != 0 {
			v.Set(reflect.ValueOf(Expr{Text: "false", When: f.when, n: n})) // reported as a tag
			return n
		}
		d.errorf(n, "%s: the expression is empty", f.name()).Hint = "write one, or leave the key out"
		return n
	}
	warnComment(d.probs, n, text, lead)
	e := Expr{Text: text, When: f.when, n: n, lead: lead}
	d.exprs = append(d.exprs, e)
	v.Set(reflect.ValueOf(e))
	return n
}

// value reads a value whose type no field says.
func (d *decoder) value(n *node, v reflect.Value, f *field) *node {
	n = d.deep(n, f)
	v.Set(reflect.ValueOf(valueOf(n)))
	return n
}

// deep fills the holes of a value and checks its scalars.
func (d *decoder) deep(n *node, f *field) *node {
	switch n.kind {
	case nullNode:
		if !n.gone {
			d.errorf(n, "%s: there is no value here", f.name()).Hint = "write a value, or leave it out"
		}
	case scalarNode:
		if len(n.holes) > 0 {
			out, ok := d.filled(n, "any value", f)
			if ok && out.open {
				return d.deep(out, f)
			}
			return out
		}
		if n.filled || n.quoted {
			return n
		}
		if err := numberTrap(n.text); err != nil {
			d.wrong(n, "a value", f, err)
		}
	case listNode:
		items := make([]*node, len(n.items))
		for i, it := range n.items {
			items[i] = d.deep(it, f.item(fmt.Sprintf("[%d]", i)))
		}
		return n.withItems(items)
	case mapNode:
		fields := make([]nodeField, len(n.fields))
		for i, e := range n.fields {
			fields[i] = nodeField{e.key, d.deep(e.val, f.item(e.key.text))}
		}
		return n.withFields(fields)
	}
	return n
}
