package dsl

import (
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
)

// override applies what the command line says otherwise than the plan: the presets and the --set values, which cells run, and
// how often. The plan then says all of it, so that its resolved text is what ran.
func (ld *loader) override(root *node) *node {
	presets := root.get("presets")
	for _, name := range ld.opt.Presets {
		p := presets.get(name)
		if p == nil || p.kind != mapNode {
			src := ld.source("--preset", "", []byte(name))
			ld.probs.Addf(diag.Pos{File: src.name, Line: 1, Col: 1}, "the plan has no preset %q", name).Hint = Suggest(name, keysOf(presets), "presets")
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
	ld.plan.chosen = map[string]*node{"only": root.get("only"), "skip": root.get("skip")}
	root = ld.cells(root, "only", both(patternsOf(root.get("only")), ld.opt.Only), len(ld.opt.Only))
	root = ld.cells(root, "skip", append(patternsOf(root.get("skip")), ld.opt.Skip...), len(ld.opt.Skip))
	if ld.opt.Repeats > 0 {
		root = ld.repeats(root)
	}
	return root
}

// cells writes patterns of cells into the plan, if the command line has any.
func (ld *loader) cells(root *node, key string, patterns []string, given int) *node {
	if given == 0 {
		return root
	}
	src := ld.source("--"+key, ".", []byte(strings.Join(patterns, ",")))
	list := &node{kind: listNode, src: src, line: 1, col: 1}
	for _, p := range patterns {
		list.items = append(list.items, &node{kind: scalarNode, src: src, line: 1, col: 1, text: p, quoted: true, size: 1})
	}
	list.sum()
	return root.with(keyAt(key, list), list)
}

// both are the patterns of the cells that one of each list selects: all of the parts of a pattern must fit.
func both(plan, given []string) []string {
	if len(plan) == 0 {
		return given
	}
	var out []string
	for _, p := range plan {
		for _, g := range given {
			out = append(out, p+"/"+g)
		}
	}
	return out
}

func patternsOf(n *node) (out []string) {
	for _, it := range textsOf(n) {
		out = append(out, it.text)
	}
	return out
}

// repeats gives every scenario the repeats of the command line.
func (ld *loader) repeats(root *node) *node {
	n := strconv.Itoa(ld.opt.Repeats)
	src := ld.source("--repeats", ".", []byte(n))
	scenarios := root.get("scenarios")
	if scenarios == nil || scenarios.kind != mapNode {
		return root
	}
	for _, e := range scenarios.fields {
		if e.val.kind == mapNode && !e.val.gone {
			repeats := &node{kind: scalarNode, src: src, line: 1, col: 1, text: n, size: 1}
			scenarios = scenarios.with(e.key, e.val.with(keyAt("repeats", repeats), repeats))
		}
	}
	return root.with(keyOf(root, "scenarios"), scenarios)
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
		if p.Hint = Suggest(name, keysOf(params), "params"); strings.ContainsAny(name, ".[") {
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
