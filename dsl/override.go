package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
)

// override applies the presets and the --set values of the command line.
func (ld *loader) override(root *node) *node {
	presets := root.get("presets")
	for _, name := range ld.opt.Presets {
		p := presets.get(name)
		if p == nil || p.kind != mapNode {
			src := ld.source("--preset", "", []byte(name))
			ld.probs.Addf(diag.Pos{File: src.name, Line: 1, Col: 1}, "the plan has no preset %q", name).Hint = suggest(name, keysOf(presets), "presets")
			continue
		}
		for _, e := range p.fields {
			if root.get("params").get(e.key.text) != nil { // else reported by checkNames
				root = setParam(root, e.key, e.val)
			}
		}
	}
	for _, s := range ld.opt.Set {
		root = ld.set(root, s)
	}
	return root
}

// set applies one --set name=value.
func (ld *loader) set(root *node, arg string) *node {
	name, value, ok := strings.Cut(arg, "=")
	src := ld.source("--set "+name, ".", []byte(value))
	pos := diag.Pos{File: src.name, Line: 1, Col: 1}
	if !ok {
		ld.probs.Addf(pos, "--set wants name=value, have %q", arg).Hint = "write --set " + name + "=VALUE"
		return root
	}
	params := root.get("params")
	if params.get(name) == nil {
		p := ld.probs.Addf(pos, "the plan has no param %q", name)
		if p.Hint = suggest(name, keysOf(params), "params"); strings.ContainsAny(name, ".[") {
			p.Hint = "--set changes params only; make what you want to change a param of the plan"
		}
		return root
	}
	var quiet diag.List
	n := parse(src, &quiet)
	if n == nil || n.kind == nullNode || quiet.HasErrors() {
		n = &node{kind: scalarNode, src: src, line: 1, col: 1, text: value, quoted: true, size: 1}
	}
	return setParam(root, keyAt(name, n), n)
}

// setParam gives a param another value. What else the param says stays, but no environment variable gives its value now.
func setParam(root, name, value *node) *node {
	s := structOf(typeParam)
	params := root.get("params")
	old := expand(params.get(name.text), s, "")
	if old.kind != mapNode {
		old = mapOf("value", value)
	}
	if value.kind == mapNode && s.byKey["value"] != nil && value.get("value") != nil {
		value = value.get("value")
	}
	param := old.with(keyAt("env", old), nil).with(keyAt("value", value), value)
	param.short = false
	return root.with(keyOf(root, "params"), params.with(keyOf(params, name.text), param))
}

func keysOf(n *node) []string {
	if n == nil || n.kind != mapNode {
		return nil
	}
	var out []string
	for _, e := range n.fields {
		if !e.val.gone && !strings.HasPrefix(e.key.text, "x-") {
			out = append(out, e.key.text)
		}
	}
	return out
}

// collectNames notes what the plan names, for everything that refers to it.
func (ld *loader) collectNames(root *node) {
	for _, what := range []string{"targets", "scenarios", "loads", "backends", "relays"} {
		ld.l.names[what] = keysOf(root.get(what))
	}
	var stages []string
	if s := root.get("schedule"); s != nil {
		for _, it := range s.items {
			if n := it.get("stage"); n != nil && n.kind == scalarNode {
				stages = append(stages, n.text)
			}
		}
	}
	ld.l.names["stages"] = stages
}

// resolveAll merges what builds on something else with it: targets (from, extends), scenarios and loads (use).
func (ld *loader) resolveAll(root *node) *node {
	for _, b := range []*builder{
		{ld: ld, what: "targets", key: "extends", rule: ruleOf(typeTarget, &ld.opt.Vocabulary)},
		{ld: ld, what: "scenarios", key: "use", rule: ruleOf(typeScenario, &ld.opt.Vocabulary)},
		{ld: ld, what: "loads", key: usesKey(loadRule(&ld.opt.Vocabulary)), rule: loadRule(&ld.opt.Vocabulary)},
	} {
		all := root.get(b.what)
		if all == nil || all.kind != mapNode {
			continue
		}
		b.all, b.done = all, map[string]*node{}
		fields := make([]nodeField, 0, len(all.fields))
		for _, e := range all.fields {
			if !e.val.gone && e.val.kind != nullNode && !strings.HasPrefix(e.key.text, "x-") {
				e.val = b.resolve(e.key.text, e.val)
			}
			fields = append(fields, e)
		}
		root = root.with(keyOf(root, b.what), all.withFields(fields))
		ld.l.bases[b.what] = b.done
	}
	return root
}

func usesKey(r rule) string {
	if r.s == nil || r.s.uses == nil {
		return ""
	}
	return r.s.uses.key
}

// A builder resolves the entries of one mapping of the plan.
type builder struct {
	ld   *loader
	what string // "targets"
	key  string // "extends"
	rule rule
	all  *node
	done map[string]*node
	open []string
}

// resolve merges an entry with what it builds on. The result keeps its own keys that say so, and is marked as joined.
func (b *builder) resolve(name string, n *node) *node {
	if d := b.done[name]; d != nil {
		return d
	}
	if b.rule.s != nil {
		n = expand(n, b.rule.s, b.rule.short)
	}
	if n.kind != mapNode {
		b.done[name] = n
		return n
	}
	b.open = append(b.open, name)
	var base *node
	if from := n.get("from"); b.what == "targets" && from != nil && from.kind == scalarNode && len(from.holes) == 0 {
		base = b.ld.fromFile(near(from), from)
	}
	if u := n.get(b.key); b.key != "" && u != nil && u.kind == scalarNode && len(u.holes) == 0 {
		if e := b.base(u); e != nil {
			base = merge(base, b.without(e), b.rule)
		}
	}
	b.open = b.open[:len(b.open)-1]
	m := *merge(base, n, b.rule)
	m.joined = true
	b.done[name] = &m
	return &m
}

// without drops the keys that say what a piece builds on: they are not inherited.
func (b *builder) without(n *node) *node {
	for _, k := range []string{b.key, "from"} {
		if (k == b.key || b.what == "targets") && n.get(k) != nil {
			n = n.with(keyAt(k, n), nil)
		}
	}
	return n
}

// base returns what a name refers to, resolved.
func (b *builder) base(u *node) *node {
	what := strings.TrimSuffix(b.what, "s")
	n := b.all.get(u.text)
	if n == nil || n.kind == nullNode {
		p := b.ld.probs.Addf(u.pos(), "%s: no %s is called %q", b.key, what, u.text)
		p.Hint, p.End = suggest(u.text, b.ld.l.names[b.what], b.what), u.end()
		return nil
	}
	if i := slices.Index(b.open, u.text); i >= 0 {
		p := b.ld.probs.Addf(u.pos(), "%s: the %s builds on itself", b.key, what)
		p.Hint, p.End = fmt.Sprintf("they build on each other in a circle: %s", strings.Join(append(b.open[i:], u.text), " -> ")), u.end()
		return nil
	}
	if n = b.resolve(u.text, n); n.kind != mapNode {
		return nil
	}
	return n
}

// fromFile reads a target from a file of its own.
func (ld *loader) fromFile(path string, at *node) *node {
	if slices.Contains(ld.open, path) {
		ld.probs.Addf(at.pos(), "from: %s is from itself", path).Hint = "the files build on each other in a circle"
		return nil
	}
	n := ld.file(path, at)
	if n == nil {
		return nil
	}
	ld.open = append(ld.open, path)
	defer func() { ld.open = ld.open[:len(ld.open)-1] }()
	if from := n.get("from"); from != nil && from.kind == scalarNode && len(from.holes) == 0 {
		base := ld.fromFile(near(from), from)
		n = merge(base, n.with(keyAt("from", n), nil), ruleOf(typeTarget, &ld.opt.Vocabulary))
	}
	return n
}
