package dsl

import "slices"

// A Kind is one action or probe that a plan may name. Its spec is a struct whose tags are the only source of decoding,
// defaults, checks, the schema and the documentation (see the package comment for the tags).
type Kind struct {
	Name  string     // as written in a plan: "start", "backend-connections"
	Doc   string     // the first sentence is the title; the rest is for explain and the reference page
	New   func() any // a pointer to a spec with its defaults set
	Short string     // the field that a bare scalar or list sets; empty: the field tagged short, if any
	Later string     // not empty: in the language, but this build cannot run it; says why
}

// A Vocabulary is every kind that a plan may use. The kind "load" of Actions is also what the plan's loads are made of.
type Vocabulary struct {
	Actions, Probes []Kind
}

func find(kinds []Kind, name string) *Kind {
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

func names(kinds []Kind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.Name
	}
	return out
}

// A Checker is a spec (or a struct in one) with rules beyond the types of its fields. Check changes nothing. It is called
// after its fields decoded without a problem, and again each time the spec is bound.
type Checker interface {
	Check(*Check)
}
