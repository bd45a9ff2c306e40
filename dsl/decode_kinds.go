package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// action reads an action: one kind as a key, beside the keys that all actions have.
func (d *decoder) action(n *node, v reflect.Value, f *field) *node {
	if n.kind == scalarNode && len(n.holes) > 0 {
		out, ok := d.filled(n, "an action", f)
		if !ok {
			return n
		}
		n = out
	}
	kinds := d.l.vocab.Actions
	if n.kind != mapNode {
		p := d.errorf(n, "%s: want an action, have %s", f.name(), n.describe())
		if p.Hint = "write {KIND: ...}"; find(kinds, n.text) != nil {
			p.Hint = fmt.Sprintf("write %s: ...", n.text)
		}
		return n
	}
	setDefaults(v)
	before := len(*d.probs)
	s := structOf(v.Type())
	common, kind := d.splitKinds(n, s, kinds)
	if kind == nil {
		d.noKind(n, common, s, kinds, "action", f)
	}
	fields := make([]nodeField, 0, len(n.fields))
	for _, e := range n.fields {
		out := e
		switch t := s.byKey[e.key.text]; {
		case strings.HasPrefix(e.key.text, "x-") || e.val.gone:
		case t != nil:
			out.val = d.decode(e.val, v.FieldByIndex(t.index), f.in(t))
		case kind != nil && e.key == kind.key:
			k := find(kinds, e.key.text)
			act := v.Addr().Interface().(*Action)
			act.Kind = k.Name
			act.Spec, out.val = d.spec(k, e, f)
		case find(kinds, e.key.text) != nil:
			d.errorf(e.key, "%s and %s are two actions", kind.key.text, e.key.text).Hint = "give each an item of its own"
		case kind != nil:
			d.besideKind(e.key, kind.key.text, s, kinds, f)
		}
		fields = append(fields, out)
	}
	n = n.withFields(fields)
	if len(*d.probs) == before {
		d.check(n, v, f)
	}
	return n
}

// splitKinds finds the first key that is a kind, and the keys that all have.
func (d *decoder) splitKinds(n *node, s *structType, kinds []Kind) (common []nodeField, kind *nodeField) {
	for i, e := range n.fields {
		switch {
		case s.byKey[e.key.text] != nil:
			common = append(common, e)
		case kind == nil && find(kinds, e.key.text) != nil:
			kind = &n.fields[i]
		}
	}
	return common, kind
}

// noKind reports an action or probe without a kind.
func (d *decoder) noKind(n *node, common []nodeField, s *structType, kinds []Kind, what string, f *field) {
	var strange []*node
	for _, e := range n.fields {
		if s.byKey[e.key.text] == nil && !strings.HasPrefix(e.key.text, "x-") {
			strange = append(strange, e.key)
		}
	}
	known := names(kinds)
	switch {
	case len(strange) > 0:
		for _, k := range strange {
			d.errorf(k, "unknown %s %q", what, k.text).Hint = d.kindHint(k.text, known, s, what)
		}
	case len(common) > 0 && n.style&yaml.FlowStyle != 0 && what == "action":
		k := common[0].key
		p := d.errorf(k, "%s is no action, but a key beside one", k.text)
		p.Hint = fmt.Sprintf("put both into one mapping: [{load: ..., %s: ...}]", k.text)
	default:
		d.errorf(n, "%s: no %s here", f.name(), what).Hint = fmt.Sprintf("write one of %s", list(known))
	}
}

func (d *decoder) kindHint(name string, known []string, s *structType, what string) string {
	if near := nearest(name, append(slices.Clone(known), s.keys()...)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if places := d.l.belongs(name, nil); places != "" {
		return places
	}
	return fmt.Sprintf("the %ss are %s", what, list(known))
}

// besideKind reports an unknown key beside a kind.
func (d *decoder) besideKind(key *node, kind string, s *structType, kinds []Kind, f *field) {
	p := d.errorf(key, "unknown key %q beside %s", key.text, kind)
	if k := find(kinds, kind); k != nil {
		if spec := structOf(reflect.TypeOf(k.New()).Elem()); spec.byKey[key.text] != nil {
			p.Hint = fmt.Sprintf("it belongs under %s: {%s: ...}", kind, key.text)
			return
		}
	}
	near := nearest(key.text, s.keys())
	switch places := d.l.belongs(key.text, s); {
	case near != "":
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	case places != "":
		p.Hint = places
	default:
		p.Hint = Suggest(key.text, append(names(kinds), s.keys()...), "kinds and keys")
	}
}

// spec reads the value of a kind's key into a new spec of the kind.
func (d *decoder) spec(k *Kind, e nodeField, f *field) (any, *node) {
	if k.Later != "" {
		d.notYet(e.key, k.Name, k.Later)
	}
	at := &field{parent: f, key: k.Name, when: f.when, noHole: f.noHole}
	if e.val.kind == nullNode {
		d.errorf(e.val, "%s: there is no value", k.Name).Hint = fmt.Sprintf("write %s: {}", k.Name)
		return nil, e.val
	}
	spec := k.New()
	s := structOf(reflect.TypeOf(spec).Elem())
	if n := expand(e.val, s, k.Short); n.kind == scalarNode && len(n.holes) > 0 && d.fill == nil {
		d.filled(n, "the fields of "+k.Name, at)
		return nil, n
	} else if n.kind == scalarNode && len(n.holes) > 0 {
		out, ok := d.filled(n, "the fields of "+k.Name, at)
		if !ok {
			return nil, n
		}
		e.val = out
	}
	return spec, d.structure(e.val, reflect.ValueOf(spec).Elem(), at, k.Short)
}

// namedLoad reads an entry of loads as the action "load".
func (d *decoder) namedLoad(n *node, v reflect.Value, f *field) *node {
	k := find(d.l.vocab.Actions, "load")
	if k == nil {
		d.errorf(n, "%s: this build has no action load", f.name()).Hint = "leave loads out"
		return n
	}
	spec := k.New()
	entry := *f
	entry.entry = true
	out := d.structure(n, reflect.ValueOf(spec).Elem(), &entry, k.Short)
	v.Addr().Interface().(*NamedLoad).Spec = spec
	return out
}
