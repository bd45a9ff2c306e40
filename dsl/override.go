package dsl

import (
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
