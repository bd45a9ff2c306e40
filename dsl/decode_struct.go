package dsl

import (
	"fmt"
	"reflect"
	"strings"
)

// structure reads a mapping into a struct. shortKey is the field that a bare scalar or list sets; empty: the one tagged
// short, if any.
func (d *decoder) structure(n *node, v reflect.Value, f *field, shortKey string) *node {
	s := structOf(v.Type())
	before := len(*d.probs)
	n, ok := d.asMapping(n, s, f, shortKey)
	if !ok {
		return n
	}
	setDefaults(v)
	n, complete := d.join(n, s, f)
	if !complete || n.bare { // what it lacks is no problem of its own
		c := *f
		c.part = true
		f = &c
	}
	complete = !f.part
	fields := make([]nodeField, 0, len(n.fields))
	var kind *fieldType
	meant := map[string]bool{} // what unknown keys likely mean: that it is missing is no problem of its own
	for _, e := range n.fields {
		out := nodeField{e.key, e.val}
		t := s.byKey[e.key.text]
		switch {
		case strings.HasPrefix(e.key.text, "x-"):
		case t == nil:
			meant[d.unknownKey(e.key, s, f)] = true
		case e.val.gone:
		default:
			if t.kind {
				if kind != nil {
					d.errorf(e.key, "%s: %s and %s exclude each other", f.name(), kind.key, t.key).Hint = "keep one of them"
				}
				kind = t
			}
			if t.later != "" {
				d.notYet(e.key, t.key, t.later)
			}
			out.val = d.decode(e.val, v.FieldByIndex(t.index), f.in(t))
		}
		fields = append(fields, out)
	}
	n = n.withFields(fields)
	if complete {
		for _, t := range s.fields {
			if t.required && n.get(t.key) == nil && !meant[t.key] {
				d.missing(n, t, f)
			}
		}
	}
	if complete && len(*d.probs) == before {
		d.check(n, v, f)
	}
	return n
}

// check lets a struct check what goes beyond the types of its fields.
func (d *decoder) check(n *node, v reflect.Value, f *field) {
	switch c := v.Addr().Interface().(type) {
	case selfChecker:
		c.check(&Check{d: d, n: n, f: f})
	case Checker:
		c.Check(&Check{d: d, n: n, f: f})
	}
}

// missing reports a key that must be there.
func (d *decoder) missing(n *node, t *fieldType, f *field) {
	what := f.name()
	if what == "the plan" {
		if d.l.broken {
			return
		}
		d.errorf(n, "the plan has no %s", t.key).Hint = "add " + t.key + ": " + t.doc
		return
	}
	d.errorf(n, "%s: %s is missing", what, t.key).Hint = "add " + t.key + ": " + t.doc
}

// notYet notes something that is in the language but that this build cannot run.
func (d *decoder) notYet(n *node, what, why string) {
	d.later.Addf(n.pos(), "%s is in the language, but this build cannot run it: %s", what, why).Hint = "leave it out of what you run"
}

// asMapping makes the mapping of a short form; false if there is none yet, or none at all.
func (d *decoder) asMapping(n *node, s *structType, f *field, shortKey string) (*node, bool) {
	n = expand(n, s, shortKey)
	if n.short && len(n.fields) == 1 {
		return d.filledShort(n, s, f)
	}
	if n.kind == scalarNode && len(n.holes) > 0 {
		out, ok := d.filled(n, "the fields of "+f.name(), f)
		if !ok {
			return n, false
		}
		n = expand(out, s, shortKey)
	}
	if n.kind != mapNode {
		p := d.errorf(n, "%s: want a mapping, have %s", f.name(), n.describe())
		p.Hint = fmt.Sprintf("write %s: {%s: ...}", f.name(), firstKey(s))
		return n, false
	}
	return n, true
}

func firstKey(s *structType) string {
	for _, t := range s.fields {
		if t.required {
			return t.key
		}
	}
	if len(s.fields) > 0 {
		return s.fields[0].key
	}
	return "KEY"
}

// filledShort handles a short form that is an expression: if its value is a mapping, it is the long form.
func (d *decoder) filledShort(n *node, s *structType, f *field) (*node, bool) {
	e := n.fields[0]
	t := s.byKey[e.key.text]
	if d.fill == nil || t == nil || e.val.kind != scalarNode || !d.isWhole(e.val) {
		return n, true
	}
	if sh, _ := shapeOf(t.typ); sh == shapeValue {
		return n, true
	}
	noted := len(d.holes)
	out, ok := d.filled(e.val, "the fields of "+f.name(), f.in(t))
	if !ok {
		d.holes = d.holes[:noted] // it is noted again with its field
		return n, true
	}
	if out.kind == mapNode {
		return out, true
	}
	m := *n
	m.fields = []nodeField{{e.key, out}}
	return m.sum(), true
}

// expand makes the long form of a short one. It is the first thing that happens to any node that a struct reads.
func expand(n *node, s *structType, shortKey string) *node {
	if shortKey == "" && s.short != nil {
		shortKey = s.short.key
	}
	if shortKey == "" || n.kind != scalarNode && n.kind != listNode {
		return n
	}
	m := mapOf(shortKey, n)
	m.short = true
	return m
}

// join merges a mapping with what it uses; false while that is not known.
func (d *decoder) join(n *node, s *structType, f *field) (*node, bool) {
	if s.uses == nil || n.joined {
		return n, true
	}
	u := n.get(s.uses.key)
	if u == nil || u.kind != scalarNode {
		return n, true
	}
	if len(u.holes) > 0 {
		noted, probs := len(d.holes), len(*d.probs)
		out, ok := d.filled(u, "the name of one of "+s.uses.uses, f.in(s.uses))
		d.holes = d.holes[:noted]
		*d.probs = (*d.probs)[:probs] // both are found again when the field is read
		if !ok {
			return n, false
		}
		n = n.with(keyOf(n, s.uses.key), out)
		u = out
	}
	base := d.l.bases[s.uses.uses][u.text]
	if base == nil && d.l.broken {
		return n, false
	}
	if base == nil {
		what := strings.TrimSuffix(s.uses.uses, "s")
		d.errorf(u, "%s: no %s is called %q", f.name(), what, u.text).Hint = Suggest(u.text, d.l.names[s.uses.uses], s.uses.uses)
		return n, false
	}
	m := merge(base.with(keyOf(base, s.uses.key), nil), n, structRule(s, ""))
	m.joined, m.short = true, false
	return m, true
}

// keyOf is the node of a key of a map, or a new one.
func keyOf(n *node, key string) *node {
	for _, e := range n.fields {
		if e.key.text == key {
			return e.key
		}
	}
	return keyAt(key, n)
}

// setDefaults gives the fields that are zero the defaults of their tags.
func setDefaults(v reflect.Value) {
	for _, t := range structOf(v.Type()).fields {
		fv := v.FieldByIndex(t.index)
		sh, _ := shapeOf(t.typ)
		switch {
		case t.typ.Kind() == reflect.Pointer:
		case sh == shapeStruct:
			setDefaults(fv)
		case sh == shapePart:
			if inner, _ := shapeOf(fv.Field(1).Type()); inner == shapeStruct {
				setDefaults(fv.Field(1))
			}
		case t.def == "" || !fv.IsZero():
		case sh == shapeStrings:
			fv.Set(reflect.ValueOf(Strings(strings.Split(t.def, ","))))
		default:
			c := codecOf(t.typ)
			def := t.def
			if w, ok := t.words[def]; ok {
				def = w
			}
			val, err := c.parse(def)
			if err != nil {
				panic(fmt.Sprintf("dsl: default of %s: %v", t.key, err))
			}
			fv.Set(reflect.ValueOf(val).Convert(t.typ))
		}
	}
}
