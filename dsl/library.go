package dsl

import (
	"reflect"
	"slices"
	"strings"
)

// reportPart reports of a file that is to be run that it is a part of plans and no plan itself. What else is missing in it is then
// no problem: it is missing by intent.
func (ld *loader) reportPart(n *node) bool {
	if n == nil || n.has("plan", "targets", "include") {
		return false
	}
	var what, how string
	switch {
	case n.fits(typePlan) && n.has("scenarios", "loads"):
		what = "something for plans to include: it has scenarios or loads, but neither a name nor targets"
		how = "run a plan that has, beside targets of its own, include: " + n.src.name
	case n.fits(reflect.TypeFor[Target]()) && n.has("install", "endpoints"):
		what = "a target for plans"
		how = "run a plan that has it among its targets: NAME: {from: " + n.src.name + "}"
	default:
		return false
	}
	d := &decoder{l: ld.l, probs: &ld.probs}
	d.errorf(n, "this file is no plan by itself, but %s", what).Hint = how + "; planrun init writes a plan that has both"
	ld.l.broken = true
	return true
}

// has reports whether a mapping has one of these keys.
func (n *node) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return n.get(key) != nil })
}

// fits reports whether a struct has all keys of a mapping.
func (n *node) fits(t reflect.Type) bool {
	s := structOf(t)
	return !slices.ContainsFunc(n.fields, func(e nodeField) bool { return s.byKey[e.key.text] == nil && !strings.HasPrefix(e.key.text, "x-") })
}
