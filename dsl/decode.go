package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/planrun/planrun/dsl/diag"
)

// A decoder reads nodes into the types of the plan. Nodes come back with what was filled and merged.
type decoder struct {
	l     *lang
	probs *diag.List
	fill  Filler // nil: all holes stay
	root  *node  // the whole plan, while it is loaded
	holes []*Hole
	exprs []Expr
	later diag.List
}

// errorf reports a problem with a node.
func (d *decoder) errorf(n *node, format string, args ...any) *diag.Problem {
	p := d.probs.Addf(n.pos(), format, args...)
	p.End = n.end()
	return p
}

// decode reads n into v and returns n with its holes filled.
func (d *decoder) decode(n *node, v reflect.Value, f *field) *node {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		out := d.decode(n, p.Elem(), f)
		v.Set(p)
		return out
	}
	if n.kind == nullNode {
		if !n.gone && !f.part {
			d.errorf(n, "%s: there is no value, and nothing to remove", f.name()).Hint = "write a value, or leave the key out"
		}
		return n
	}
	switch sh, elem := shapeOf(v.Type()); sh {
	case shapeScalar:
		return d.scalar(n, v, f)
	case shapeExpr:
		return d.expr(n, v, f)
	case shapeValue:
		return d.value(n, v, f)
	case shapeStrings:
		if n.kind == scalarNode && !d.isWhole(n) {
			s := reflect.New(elem).Elem()
			out := d.scalar(n, s, f)
			v.Set(reflect.ValueOf(Strings{s.String()}))
			return out
		}
		return d.list(n, v, f, true)
	case shapeList:
		return d.list(n, v, f, false)
	case shapeMap, shapeGoMap, shapeParts:
		return d.mapping(n, v, f, sh, elem)
	case shapePart:
		return d.part(n, v, f)
	case shapeStruct:
		return d.structure(n, v, f, "")
	case shapeAction:
		return d.action(n, v, f)
	case shapePhase:
		return d.phase(n, v, f)
	case shapeProbe:
		return d.probe(n, v, f)
	case shapeLoad:
		return d.namedLoad(n, v, f)
	}
	return n
}

// isWhole reports whether a scalar is nothing but one hole.
func (d *decoder) isWhole(n *node) bool {
	return len(n.holes) == 1 && strings.TrimSpace(n.text) == string([]rune(n.text)[n.holes[0].begin:n.holes[0].end])
}

func (d *decoder) list(n *node, v reflect.Value, f *field, orText bool) *node {
	if n.kind == scalarNode && len(n.holes) > 0 {
		var ok bool
		if n, ok = d.filled(n, "a list", f); !ok {
			return n
		}
		if orText && n.kind == scalarNode {
			return d.decode(n, v, f)
		}
	}
	if n.kind != listNode {
		p := d.errorf(n, "%s: want a list, have %s", f.name(), n.describe())
		if p.Hint = "write [...]"; n.kind == scalarNode && !strings.ContainsAny(n.text, ",[]{}") {
			p.Hint = "write [" + strings.Join(strings.Fields(n.text), ", ") + "]"
		}
		return n
	}
	s := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	items := make([]*node, len(n.items))
	for i, it := range n.items {
		items[i] = d.decode(it, s.Index(i), f.item(fmt.Sprintf("[%d]", i)))
	}
	v.Set(s)
	if f.t != nil {
		d.length(n, len(items), f)
	}
	return n.withItems(items)
}

// length checks the number of elements of a list.
func (d *decoder) length(n *node, have int, f *field) {
	if f.t.min == "1" && have == 0 {
		d.errorf(n, "%s: the list is empty", f.name()).Hint = "write at least one"
	}
}

func (d *decoder) mapping(n *node, v reflect.Value, f *field, sh shape, elem reflect.Type) *node {
	if n.kind == scalarNode && len(n.holes) > 0 {
		var ok bool
		if n, ok = d.filled(n, "a mapping", f); !ok {
			return n
		}
	}
	if n.kind != mapNode {
		d.errorf(n, "%s: want a mapping, have %s", f.name(), n.describe()).Hint = fmt.Sprintf("write %s: {NAME: ...}", f.name())
		return n
	}
	inner := *f
	if f.t != nil && f.t.keys != "" {
		t := *f.t
		t.keys = ""
		inner.t = &t
	}
	var out reflect.Value
	if sh == shapeGoMap {
		out = reflect.MakeMap(v.Type())
	} else {
		out = reflect.MakeSlice(v.Type(), 0, len(n.fields))
	}
	fields := make([]nodeField, 0, len(n.fields))
	for _, e := range n.fields {
		if strings.HasPrefix(e.key.text, "x-") && !(f.t != nil && f.t.keys == "any") {
			fields = append(fields, e)
			continue
		}
		d.entryName(e.key, f)
		if !e.val.gone {
			out, e.val = d.entry(e, out, inner.item(e.key.text), sh, elem)
		}
		fields = append(fields, e)
	}
	v.Set(out)
	return n.withFields(fields)
}

// entry reads an entry of a mapping and adds it to those before it. It returns these, and the node of its value.
func (d *decoder) entry(e nodeField, to reflect.Value, at *field, sh shape, elem reflect.Type) (reflect.Value, *node) {
	switch name := e.key.text; sh {
	case shapeGoMap:
		val := reflect.New(elem).Elem()
		n := d.decode(e.val, val, at)
		to.SetMapIndex(reflect.ValueOf(name), val)
		return to, n
	case shapeParts:
		p := reflect.New(elem)
		n := d.decode(e.val, p.Elem(), at)
		p.Interface().(partHolder).setName(name, e.key)
		return reflect.Append(to, p.Elem()), n
	default:
		entry := reflect.New(to.Type().Elem()).Elem()
		entry.Field(0).SetString(name)
		entry.Field(1).Set(reflect.ValueOf(e.key.pos()))
		n := d.decode(e.val, entry.Field(2), at)
		return reflect.Append(to, entry), n
	}
}

// entryName checks the key of an entry of a mapping.
func (d *decoder) entryName(key *node, f *field) {
	if f.t != nil && f.t.keys == "ident" {
		d.ident(key, f)
	} else if strings.TrimSpace(key.text) == "" || strings.ContainsFunc(key.text, unicode.IsControl) {
		d.errorf(key, "%s: %s is no name", f.name(), key.describe()).Hint = "write a name without line breaks"
	}
}

// ident checks that the key of a mapping can be used in expressions.
func (d *decoder) ident(key *node, f *field) {
	if err := checkIdent(key.text); err != nil {
		p := d.errorf(key, "%s: %v", f.name(), err)
		if h, ok := err.(*hint); ok {
			p.Hint = h.do
		}
	}
}

func (d *decoder) part(n *node, v reflect.Value, f *field) *node {
	holes, exprs, later := len(d.holes), len(d.exprs), len(d.later)
	out := d.decode(n, v.Field(1), f)
	p := v.Addr().Interface().(partHolder).hold()
	*p = part{l: d.l, n: out, body: out, f: f,
		holes: slices.Clip(d.holes[holes:]), exprs: slices.Clip(d.exprs[exprs:]), later: slices.Clip(d.later[later:])}
	switch sh, _ := shapeOf(v.Field(1).Type()); sh {
	case shapePhase, shapeProbe:
		if out.kind == mapNode && len(out.fields) == 1 {
			p.body = out.fields[0].val
		}
	}
	return out
}

// withItems returns n, or a copy of it with other items.
func (n *node) withItems(items []*node) *node {
	if slices.Equal(items, n.items) {
		return n
	}
	c := *n
	c.items = items
	return c.sum()
}

// withFields returns n, or a copy of it with other fields.
func (n *node) withFields(fields []nodeField) *node {
	if slices.Equal(fields, n.fields) {
		return n
	}
	c := *n
	c.fields = fields
	return c.sum()
}
