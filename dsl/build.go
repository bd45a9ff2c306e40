package dsl

import (
	"fmt"
	"slices"
	"strings"
)

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
	bare := false
	if from := n.get("from"); b.what == "targets" && from != nil && from.kind == scalarNode && len(from.holes) == 0 {
		base = b.ld.fromFile(near(from), from)
	}
	if u := n.get(b.key); b.key != "" && u != nil && u.kind == scalarNode && len(u.holes) == 0 {
		e := b.base(u)
		if e != nil {
			base = merge(base, b.without(e), b.rule)
		}
		bare = e == nil || e.bare
	}
	b.open = b.open[:len(b.open)-1]
	m := *merge(base, n, b.rule)
	m.joined, m.bare = true, bare
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
	if n == nil && b.ld.l.broken {
		return nil
	}
	if n == nil || n.kind == nullNode {
		p := b.ld.probs.Addf(u.pos(), "%s: no %s is called %q", b.key, what, u.text)
		p.Hint, p.End = Suggest(u.text, b.ld.l.names[b.what], b.what), u.end()
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
