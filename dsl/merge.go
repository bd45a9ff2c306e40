package dsl

import (
	"reflect"
	"strings"
)

// A rule says how mappings of a type merge. The zero rule knows nothing: mappings merge deeply, all else is replaced.
type rule struct {
	s       *structType  // of a struct
	short   string       // the field that a bare scalar or list sets, if not the one tagged short
	elem    reflect.Type // of the values of a mapping
	replace bool         // values of the mapping are replaced whole
	vocab   *Vocabulary
}

func structRule(s *structType, short string) rule { return rule{s: s, short: short} }

// ruleOf returns the rule of a type.
func ruleOf(t reflect.Type, vocab *Vocabulary) rule {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch sh, elem := shapeOf(t); sh {
	case shapePart:
		return ruleOf(elem, vocab)
	case shapeMap, shapeGoMap, shapeParts:
		return rule{elem: elem, vocab: vocab}
	case shapeStruct:
		return rule{s: structOf(t), vocab: vocab}
	case shapeLoad:
		return loadRule(vocab)
	}
	return rule{}
}

// loadRule is the rule of the entries of loads: specs of the action load.
func loadRule(vocab *Vocabulary) rule {
	if vocab == nil {
		return rule{}
	}
	k := find(vocab.Actions, "load")
	if k == nil {
		return rule{}
	}
	return rule{s: structOf(reflect.TypeOf(k.New()).Elem()), short: k.Short, vocab: vocab}
}

// in returns the rule of a key's value.
func (r rule) in(key string) rule {
	switch {
	case r.elem != nil:
		return ruleOf(r.elem, r.vocab)
	case r.s != nil && r.s.byKey[key] != nil:
		t := r.s.byKey[key]
		c := ruleOf(t.typ, r.vocab)
		c.replace = t.merge == "replace"
		return c
	}
	return rule{}
}

// merge lays one piece of a plan over another. Short forms are expanded first; mappings merge deeply; lists and scalars are
// replaced; null removes; a mapping with another kind replaces; a new value of a knob clears its why.
func merge(base, over *node, r rule) *node {
	switch {
	case base == nil || base == over:
		return over
	case over.kind == nullNode:
		removed := *over
		removed.gone = true
		return &removed
	}
	if r.s != nil {
		base, over = expand(base, r.s, r.short), expand(over, r.s, r.short)
	}
	if base.kind != mapNode || over.kind != mapNode || r.otherKind(base, over) {
		return over
	}
	out := *over
	out.joined, out.short = false, false
	out.fields = make([]nodeField, 0, len(base.fields)+len(over.fields))
	mine := make(map[string]nodeField, len(over.fields))
	for _, e := range over.fields {
		mine[e.key.text] = e
	}
	newValue := r.s != nil && r.s.typ == typeKnob && mine["value"].key != nil
	for _, e := range base.fields {
		o, both := mine[e.key.text]
		switch {
		case newValue && e.key.text == "why" && !both: // it was the reason of the old value
		case !both:
			out.fields = append(out.fields, e)
		case r.replace && o.val.kind != nullNode || strings.HasPrefix(e.key.text, "x-"):
			out.fields = append(out.fields, o)
		default:
			out.fields = append(out.fields, nodeField{o.key, merge(e.val, o.val, r.in(e.key.text))})
		}
		delete(mine, e.key.text)
	}
	for _, e := range over.fields {
		if _, left := mine[e.key.text]; left {
			out.fields = append(out.fields, e)
		}
	}
	return out.sum()
}

// otherKind reports whether two mappings of a one-kind type have different kinds.
func (r rule) otherKind(base, over *node) bool {
	if r.s == nil || len(r.s.kinds) == 0 {
		return false
	}
	kind := func(n *node) string {
		for _, t := range r.s.kinds {
			if n.get(t.key) != nil {
				return t.key
			}
		}
		return ""
	}
	b, o := kind(base), kind(over)
	return b != "" && o != "" && b != o
}
