package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/internal/plural"
)

// plans lists how two resolved plans differ, and the files that they refer to (templates of configurations).
func plans(a, b *Set) (out []Difference) {
	if a.Plan == nil || b.Plan == nil {
		return nil
	}
	for _, c := range changes(a.comparable(pairName(a, b)), b.comparable(pairName(a, b))) {
		out = append(out, difference(c))
	}
	each(a.Files, b.Files, func(name string, x, y []string) {
		if !slices.Equal(x, y) {
			out = append(out, files(name, x, y))
		}
	})
	return out
}

// comparable is the plan of a set with short forms written out. Where the sides are one target each, both are called so.
func (s *Set) comparable(target string) map[string]any {
	plan := maps.Clone(s.Plan)
	plan["params"] = long(plan["params"])
	targets := maps.Clone(mapping(plan["targets"]))
	for name, t := range targets {
		target := maps.Clone(mapping(t))
		if w := long(target["with"]); w != nil {
			target["with"] = w
		}
		targets[name] = target
	}
	if s.Target != "" {
		targets = map[string]any{target: targets[s.Target]}
	}
	plan["targets"] = targets
	return plan
}

// pairName is what two targets that are compared with each other are called.
func pairName(a, b *Set) string {
	if a.Target == b.Target {
		return a.Target
	}
	return a.Target + ":" + b.Target
}

func mapping(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// long writes {workers: 2} as {workers: {value: 2}}.
func long(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, x := range m {
		if _, is := x.(map[string]any); !is {
			x = map[string]any{"value": x}
		}
		out[k] = x
	}
	return out
}

// difference says a change of the plan in words.
func difference(c change) Difference {
	d := Difference{groupOf(c.path), dotted(c.path), text(c.a), text(c.b), "", ""}
	at := func(i int) string {
		if i < len(c.path) {
			return c.path[i]
		}
		return ""
	}
	last := at(len(c.path) - 1)
	switch {
	case last == "reuse":
		d.Words = fmt.Sprintf("keep-alive of %s: %s", dotted(c.path[:len(c.path)-1]), sides(keepAlive(c.a), keepAlive(c.b)))
	case at(0) == "params" && at(2) == "value":
		d.Words = "the param " + at(1) + ": " + sides(d.A, d.B)
	case at(0) == "targets" && at(2) == "with" && at(4) == "value":
		d.Words = "the knob " + at(3) + " of " + at(1) + ": " + sides(d.A, d.B)
	case at(0) == "targets" && len(c.path) == 2:
		d.Words = "the target " + at(1) + ": " + in(c)
	default:
		d.Words = d.Where + ": " + sides(d.A, d.B)
	}
	return d
}

// in says which side has something, without what it is.
func in(c change) string {
	switch {
	case c.a == nil:
		return "only in B"
	case c.b == nil:
		return "only in A"
	}
	return "differs"
}

func keepAlive(v any) string {
	switch v {
	case nil, "keep-alive":
		return "connections are kept"
	case "none":
		return "a new connection for every request"
	}
	return shown(v)
}

// explaining are keys whose text changes nothing.
var explaining = []string{"about", "why", "cannot-equal"}

func groupOf(path []string) Group {
	if slices.ContainsFunc(path, func(k string) bool { return slices.Contains(explaining, k) }) {
		return Texts
	}
	switch path[0] {
	case "targets", "host":
		return Targets
	case "schedule":
		return Schedule
	case "params", "backends", "relays", "loads", "scenarios", "metrics", "probes", "setup", "fresh":
		return Measured
	}
	return Texts
}

// files says how a file that the plan refers to differs: its first lines that do.
func files(name string, a, b []string) Difference {
	d := Difference{Group: Targets, Where: name}
	list := func(v []string) []any {
		out := make([]any, len(v))
		for i, l := range v {
			out[i] = l
		}
		return out
	}
	var minus, plus []string
	for _, c := range changes(list(a), list(b)) {
		if s, ok := c.a.(string); ok {
			minus = append(minus, strings.TrimSpace(s))
		}
		if s, ok := c.b.(string); ok {
			plus = append(plus, strings.TrimSpace(s))
		}
	}
	d.A, d.B = lines(minus), lines(plus)
	d.Words = "the file " + strings.TrimPrefix(name, "sources/") + ": " + sides(d.A, d.B)
	if a == nil || b == nil {
		d.A, d.B = "", ""
		d.Words = "the file " + strings.TrimPrefix(name, "sources/") + ": " + map[bool]string{true: "only in B", false: "only in A"}[a == nil]
	}
	return d
}

// lines are the first of several.
func lines(v []string) string {
	const most = 3
	if len(v) == 0 {
		return ""
	}
	more := ""
	if len(v) > most {
		more = " and " + plural.Of(len(v)-most, "more line")
		v = v[:most]
	}
	quoted := make([]string, len(v))
	for i, l := range v {
		quoted[i] = `"` + shown(l) + `"`
	}
	return strings.Join(quoted, ", ") + more
}
