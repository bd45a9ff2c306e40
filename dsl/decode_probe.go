package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// probe reads a probe: one kind as a key. The keys that all probes have may stand beside it or in its mapping.
func (d *decoder) probe(n *node, v reflect.Value, f *field) *node {
	kinds := d.l.vocab.Probes
	if n.kind == scalarNode && len(n.holes) == 0 && find(kinds, n.text) != nil {
		empty := &node{kind: mapNode, src: n.src, line: n.line, col: n.col, size: 1}
		n = mapOf(n.text, empty)
	}
	if n.kind != mapNode {
		d.errorf(n, "%s: want a probe, have %s", f.name(), n.describe()).Hint = "write one of " + list(names(kinds))
		return n
	}
	setDefaults(v)
	s := structOf(v.Type())
	common, kind := d.splitKinds(n, s, kinds)
	if kind == nil {
		d.noKind(n, common, s, kinds, "probe", f)
		return n
	}
	k := find(kinds, kind.key.text)
	p := v.Addr().Interface().(*Probe)
	p.Kind = k.Name
	spec := k.New()
	own := structOf(reflect.TypeOf(spec).Elem())
	short := k.Short
	if short == "" && own.short == nil {
		short = "of"
	}
	body := expand(kind.val, own, short)
	if body.kind != mapNode {
		d.errorf(body, "%s: want a mapping, have %s", k.Name, body.describe()).Hint = fmt.Sprintf("write %s: {of: ...}", k.Name)
		return n
	}
	for _, e := range n.fields {
		switch {
		case e.key == kind.key || strings.HasPrefix(e.key.text, "x-") || e.val.gone:
		case s.byKey[e.key.text] == nil && find(kinds, e.key.text) != nil:
			d.errorf(e.key, "%s and %s are two probes", k.Name, e.key.text).Hint = "give each an item of its own"
		case s.byKey[e.key.text] == nil:
			d.besideKind(e.key, k.Name, s, kinds, f)
		case body.get(e.key.text) != nil:
			d.errorf(e.key, "%s stands twice, here and under %s", e.key.text, k.Name).Hint = "remove one"
		default:
			body = body.with(e.key, e.val)
		}
	}
	return mapOfKey(kind.key, d.probeBody(k, kind.key, body, p, spec, s, own, f))
}

// probeBody reads the keys that all probes have, and gives the rest to the spec.
func (d *decoder) probeBody(k *Kind, key, body *node, p *Probe, spec any, s, own *structType, f *field) *node {
	rest, at := *body, &field{parent: f, key: k.Name, when: f.when, noHole: f.noHole}
	rest.fields = nil
	done := map[string]*node{}
	for _, e := range body.fields {
		t := s.byKey[e.key.text]
		if t != nil && !e.val.gone {
			done[e.key.text] = d.decode(e.val, reflect.ValueOf(p).Elem().FieldByIndex(t.index), at.in(t))
		}
		if t == nil && own.byKey[e.key.text] == nil && !strings.HasPrefix(e.key.text, "x-") {
			d.errorf(e.key, "unknown key %q in %s", e.key.text, k.Name).Hint = Suggest(e.key.text, append(own.keys(), s.keys()...), "keys")
			continue
		}
		if t == nil || own.byKey[e.key.text] != nil {
			rest.fields = append(rest.fields, e)
		}
	}
	p.Spec = spec
	if k.Later != "" {
		d.notYet(key, k.Name, k.Later)
	}
	out := d.structure(rest.sum(), reflect.ValueOf(spec).Elem(), at, "")
	fields := make([]nodeField, 0, len(body.fields))
	for _, e := range body.fields {
		if n := done[e.key.text]; n != nil {
			e.val = n
		} else if n := out.get(e.key.text); n != nil {
			e.val = n
		}
		fields = append(fields, e)
	}
	return body.withFields(fields)
}

func mapOfKey(key, val *node) *node {
	n := mapOf(key.text, val)
	n.line, n.col, n.src = key.line, key.col, key.src
	n.fields[0].key = key
	return n
}

// phase reads a phase: one kind as the key of all the rest.
func (d *decoder) phase(n *node, v reflect.Value, f *field) *node {
	var kinds []string
	for _, k := range PhaseKinds {
		kinds = append(kinds, k.Name)
	}
	if n.kind != mapNode {
		d.errorf(n, "%s: want a phase, have %s", f.name(), n.describe()).Hint = fmt.Sprintf("write one of %s: {...}", list(kinds))
		return n
	}
	s := structOf(v.Type())
	var kind *nodeField
	for i, e := range n.fields {
		key := e.key.text
		switch {
		case strings.HasPrefix(key, "x-"):
		case slices.Contains(kinds, key) && kind == nil:
			kind = &n.fields[i]
		case slices.Contains(kinds, key):
			d.errorf(e.key, "%s and %s are two phases", kind.key.text, key).Hint = "give each an item of its own"
		case s.byKey[key] != nil:
			d.errorf(e.key, "%s stands beside the phase", key).Hint = fmt.Sprintf("it belongs under the phase's kind: - measure: {%s: ...}; check the indentation", key)
		default:
			d.errorf(e.key, "unknown phase %q", key).Hint = Suggest(key, kinds, "phases")
		}
	}
	if kind == nil {
		if len(n.fields) == 0 {
			d.errorf(n, "%s: an empty phase", f.name()).Hint = fmt.Sprintf("write one of %s: {...}", list(kinds))
		}
		return n
	}
	v.FieldByName("Kind").SetString(kind.key.text)
	v.FieldByName("Name").SetString(kind.key.text)
	if kind.val.kind == nullNode {
		d.errorf(kind.key, "%s: an empty phase", kind.key.text).Hint = fmt.Sprintf("write %s: {for: 10s}", kind.key.text)
		return n
	}
	at := &field{parent: f, key: kind.key.text, when: f.when, noHole: f.noHole}
	return mapOfKey(kind.key, d.structure(kind.val, v, at, ""))
}
