package dsl

import (
	"bytes"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Redacted stands in for secrets wherever a plan is written.
const Redacted = "<redacted>"

// ResolvedOptions say how a resolved plan is written.
type ResolvedOptions struct {
	// Path gives the path to write for one that was resolved, so that copies of the files can be named; nil: as it was
	// resolved. A path that is an expression stays.
	Path func(string) string
	// Environment is what environment variables gave to params, by the names of these; nil: nothing. It stands in their env's
	// place, unless it is secret or no UTF-8, which YAML cannot hold.
	Environment map[string]string
}

// Resolved writes the plan as it was resolved: files merged, presets and --set applied, targets, scenarios and loads
// merged with what they build on, secrets redacted. Load reads it as the same plan.
func Resolved(p *Plan, opt ResolvedOptions) []byte {
	if p.root == nil {
		return nil
	}
	path := opt.Path
	if path == nil {
		path = func(s string) string { return s }
	}
	w := &writer{vocab: &p.l.vocab, path: path, secret: map[string]bool{}}
	for i := range p.Params {
		if p.Params[i].Val.Secret {
			w.secret[p.Params[i].Name] = true
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	doc := w.plan(p.root)
	for _, param := range p.Params {
		if v, ok := opt.Environment[param.Name]; ok && !param.Val.Secret {
			given(below(below(doc, "params"), param.Name), param.Val.Env, v)
		}
	}
	if err := enc.Encode(doc); err != nil {
		panic("dsl: a plan that was read cannot be written: " + err.Error())
	}
	return b.Bytes()
}

// A writer makes YAML of a plan's nodes. It follows their types, because these say which texts are paths.
type writer struct {
	vocab  *Vocabulary
	path   func(string) string
	secret map[string]bool
}

func (w *writer) plan(n *node) *yaml.Node {
	n = n.with(keyAt("include", n), nil)
	for what, keys := range map[string][]string{"targets": {"from", "extends"}, "scenarios": {"use"}, "loads": {usesKey(loadRule(w.vocab))}} {
		all := n.get(what)
		if all == nil || all.kind != mapNode {
			continue
		}
		var fields []nodeField
		for _, e := range all.fields {
			for _, k := range keys {
				if e.val.get(k) != nil {
					e.val = e.val.with(keyAt(k, e.val), nil)
				}
			}
			fields = append(fields, e)
		}
		n = n.with(keyOf(n, what), all.withFields(fields))
	}
	n = inOrder(w.redact(n), structOf(typePlan))
	return w.node(n, typePlan, nil)
}

// inOrder returns a mapping with its keys in the order of a struct's fields.
func inOrder(n *node, s *structType) *node {
	var fields []nodeField
	for _, t := range s.fields {
		for _, e := range n.fields {
			if e.key.text == t.key {
				fields = append(fields, e)
			}
		}
	}
	return n.withFields(fields)
}

// redact replaces the values of secret params, in the params and in the presets.
func (w *writer) redact(n *node) *node {
	hide := func(at *node) *node {
		return &node{kind: scalarNode, src: at.src, line: at.line, col: at.col, text: Redacted, quoted: true, size: 1}
	}
	params := n.get("params")
	for name := range w.secret {
		if p := params.get(name); p != nil && p.get("value") != nil {
			params = params.with(keyOf(params, name), p.with(keyOf(p, "value"), hide(p)))
		}
	}
	if params != nil {
		n = n.with(keyOf(n, "params"), params)
	}
	presets := n.get("presets")
	if presets == nil || presets.kind != mapNode {
		return n
	}
	for _, e := range presets.fields {
		for name := range w.secret {
			if v := e.val.get(name); v != nil {
				e.val = e.val.with(keyOf(e.val, name), hide(v))
				presets = presets.with(e.key, e.val)
			}
		}
	}
	return n.with(keyOf(n, "presets"), presets)
}

// node writes a node of a type; a nil type has no paths in it.
func (w *writer) node(n *node, t reflect.Type, f *fieldType) *yaml.Node {
	switch n.kind {
	case scalarNode:
		return w.scalar(n, t, f)
	case listNode:
		out := &yaml.Node{Kind: yaml.SequenceNode}
		elem := t
		if t != nil {
			if sh, e := shapeOf(t); sh == shapeList || sh == shapeStrings {
				elem = e
			}
		}
		for _, it := range n.items {
			out.Content = append(out.Content, w.node(it, elem, f))
		}
		if len(n.items) == 0 {
			out.Style = yaml.FlowStyle
		}
		return out
	case mapNode:
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range n.fields {
			if e.val.gone || e.val.kind == nullNode || strings.HasPrefix(e.key.text, "x-") && t != typeValue && !(f != nil && f.keys == "any") {
				continue
			}
			ct, cf := w.below(t, e.key.text)
			out.Content = append(out.Content, w.scalar(e.key, nil, nil), w.node(e.val, ct, cf))
		}
		if len(out.Content) == 0 {
			out.Style = yaml.FlowStyle
		}
		return out
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// below returns the type of what stands under a key.
func (w *writer) below(t reflect.Type, key string) (reflect.Type, *fieldType) {
	if t == nil {
		return nil, nil
	}
	field := func(t reflect.Type) (reflect.Type, *fieldType) {
		if f := structOf(t).byKey[key]; f != nil {
			return f.typ, f
		}
		return nil, nil
	}
	spec := func(kinds []Kind, name string) (reflect.Type, *fieldType) {
		k := find(kinds, name)
		if k == nil {
			return nil, nil
		}
		t := reflect.TypeOf(k.New()).Elem()
		if f := structOf(t).byKey[k.Short]; f != nil && f.path {
			return t, f
		}
		return t, nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch sh, elem := shapeOf(t); sh {
	case shapePart:
		return w.below(elem, key)
	case shapeMap, shapeGoMap, shapeParts:
		return elem, nil
	case shapeStruct:
		return field(t)
	case shapeAction:
		if ft, f := field(t); f != nil {
			return ft, f
		}
		return spec(w.vocab.Actions, key)
	case shapeProbe:
		if ft, f := field(t); f != nil {
			return ft, f
		}
		return spec(w.vocab.Probes, key)
	case shapePhase:
		if ft, f := field(t); f != nil {
			return ft, f
		}
		return t, nil // the phase's kind
	case shapeLoad:
		if s := loadRule(w.vocab).s; s != nil {
			return fieldOf(s, key)
		}
	}
	return nil, nil
}

func fieldOf(s *structType, key string) (reflect.Type, *fieldType) {
	if f := s.byKey[key]; f != nil {
		return f.typ, f
	}
	return nil, nil
}

// scalar writes a scalar so that it is read as the same one: plain stays plain, text stays text.
func (w *writer) scalar(n *node, t reflect.Type, f *fieldType) *yaml.Node {
	out := &yaml.Node{Kind: yaml.ScalarNode, Value: n.text}
	if f == nil && t != nil && n.kind == scalarNode {
		if s := pathShort(t); s != nil {
			f = s
		}
	}
	if f != nil && f.path && len(n.holes) == 0 {
		src := n.src
		if n.from != nil {
			src = n.from
		}
		out.Value = w.path(src.resolve(n.text))
	}
	switch {
	case strings.Contains(out.Value, "\n"):
		out.Style = yaml.LiteralStyle
	case n.quoted || out.Value == "" || n.style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		out.Style = yaml.DoubleQuotedStyle
	}
	return out
}

// pathShort returns the field that a bare scalar sets in a struct, if it is a path.
func pathShort(t reflect.Type) *fieldType {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if sh, _ := shapeOf(t); sh != shapeStruct {
		return nil
	}
	if s := structOf(t).short; s != nil && s.path {
		return s
	}
	return nil
}
