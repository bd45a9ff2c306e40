package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Explain documents a kind, a phase, or a key of the plan, by a path such as "load", "load.pool", "scenarios.repeats",
// "phase.require", "action.every" or "host.guards.send-lag". Names of the plan's own are left out of the path. The empty
// path is the top level. Where several things have the name, all are documented.
func Explain(vocab Vocabulary, path string) (string, error) {
	keys := strings.Split(path, ".")
	if path == "" {
		keys = nil
	}
	starts := topics(vocab)
	if len(keys) == 0 {
		return explainStruct("plan", "A plan: one YAML file and what it includes.", structOf(typePlan), ""), nil
	}
	var out []string
	var miss error
	for _, s := range starts {
		if s.name != keys[0] {
			continue
		}
		text, err := s.explain(vocab, keys)
		if err != nil {
			if miss == nil {
				miss = err
			}
			continue
		}
		out = append(out, text)
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, "\n"), nil
	case miss != nil:
		return "", miss
	}
	var known []string
	for _, s := range starts {
		known = append(known, s.name)
	}
	slices.Sort(known)
	return "", fmt.Errorf("nothing is called %q; %s", keys[0], Suggest(keys[0], slices.Compact(known), "topics"))
}

// A topic is where an explanation can begin.
type topic struct {
	name, doc string
	typ       reflect.Type // nil: nothing below
	short     string
	field     *fieldType // of a top-level key
}

func topics(vocab Vocabulary) []topic {
	var out []topic
	kinds := func(what string, kinds []Kind) {
		for _, k := range kinds {
			doc := what + " " + k.Name + ": " + k.Doc
			if k.Later != "" {
				doc += "\nThis build cannot run it: " + k.Later + "."
			}
			out = append(out, topic{name: k.Name, doc: doc, typ: reflect.TypeOf(k.New()).Elem(), short: k.Short})
		}
	}
	kinds("action", vocab.Actions)
	kinds("probe", vocab.Probes)
	for _, k := range PhaseKinds {
		out = append(out, topic{name: k.Name, doc: "phase " + k.Name + ": " + k.Doc, typ: typePhase})
	}
	out = append(out,
		topic{name: "phases", doc: "phases: windows of time with actions, one after another; each has one kind as its key: " + strings.Join(phaseNames(), ", ") + ".", typ: typePhase},
		topic{name: "phase", doc: "phase: a window of time with actions; one kind as its key.", typ: typePhase},
		topic{name: "action", doc: "action: one kind as its key, beside these.", typ: typeAction},
		topic{name: "probe", doc: "probe: samples something at an interval; one kind as its key.", typ: typeProbe})
	for _, f := range structOf(typePlan).fields {
		out = append(out, topic{name: f.key, doc: f.key + ": " + f.doc, typ: f.typ, field: f})
	}
	return out
}

func (s topic) explain(vocab Vocabulary, keys []string) (string, error) {
	t := inner(s.typ)
	if t == typeLoad {
		if k := find(vocab.Actions, "load"); k != nil {
			t, s.short = reflect.TypeOf(k.New()).Elem(), k.Short
		}
	}
	f := s.field
	for i, key := range keys[1:] {
		if t == nil || !hasFields(t) {
			return "", fmt.Errorf("%s has nothing below it", strings.Join(keys[:i+1], "."))
		}
		st := structOf(t)
		if f = st.byKey[key]; f == nil {
			return "", fmt.Errorf("%s has no key %q; %s", strings.Join(keys[:i+1], "."), key, Suggest(key, st.keys(), "keys"))
		}
		t = inner(f.typ)
	}
	name := strings.Join(keys, ".")
	if f != nil {
		return explainField(name, f), nil
	}
	return explainStruct(name, s.doc, structOf(t), s.short), nil
}

// inner is the struct in a type, through lists, mappings and parts; else the type.
func inner(t reflect.Type) reflect.Type {
	for {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		sh, elem := shapeOf(t)
		switch sh {
		case shapeList, shapeMap, shapeGoMap, shapeParts, shapePart:
			t = elem
		default:
			return t
		}
	}
}

func hasFields(t reflect.Type) bool {
	switch sh, _ := shapeOf(t); sh {
	case shapeStruct, shapeAction, shapePhase, shapeProbe:
		return true
	}
	return false
}

// explainField documents a key, and the keys below it.
func explainField(name string, f *fieldType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", name, sentence(f.doc))
	for _, row := range facts(f) {
		fmt.Fprintf(&b, "  %-10s %s\n", row[0], row[1])
	}
	if t := inner(f.typ); hasFields(t) {
		b.WriteString("\n")
		keyTable(&b, structOf(t))
	}
	return b.String()
}

func explainStruct(name, doc string, s *structType, short string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", doc)
	if short == "" && s.short != nil {
		short = s.short.key
	}
	if short != "" {
		fmt.Fprintf(&b, "  %s: X is short for %s: {%s: X}\n\n", name, name, short)
	}
	if len(s.fields) == 0 {
		b.WriteString("  no keys\n")
	}
	keyTable(&b, s)
	return b.String()
}

// keyTable lists the keys of a struct.
func keyTable(b *strings.Builder, s *structType) {
	width := 0
	for _, f := range s.fields {
		width = max(width, len(f.key))
	}
	for _, f := range s.fields {
		doc := f.doc
		if f.required {
			doc += " (required)"
		}
		if f.def != "" {
			doc += " (default " + f.def + ")"
		}
		if f.later != "" {
			doc += " [later: " + f.later + "]"
		}
		fmt.Fprintf(b, "  %-*s  %s\n", width, f.key, doc)
	}
}

func phaseNames() []string {
	out := make([]string, len(PhaseKinds))
	for i, k := range PhaseKinds {
		out[i] = k.Name
	}
	return out
}
