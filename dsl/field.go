package dsl

import (
	"strings"
)

// A field is the place of a value among the fields of the plan, with what its enclosing fields say about it.
type field struct {
	parent *field
	key    string // "phases", or "[2]"
	when   Time
	noHole bool
	part   bool       // what the mapping uses is not known yet: more can come from there
	entry  bool       // it is an entry of loads
	t      *fieldType // tags for the value itself; nil: none
}

// in returns the field of a key below f, with its tags.
func (f *field) in(t *fieldType) *field {
	c := &field{parent: f, key: t.key, when: f.when, noHole: f.noHole || t.noHole, part: f.part, t: t}
	if t.eval != "" {
		c.when = t.eval
	}
	return c
}

// item returns the field of an element of f, to which the tags of f's elements apply.
func (f *field) item(key string) *field {
	return &field{parent: f, key: key, when: f.when, noHole: f.noHole, part: f.part, t: f.t}
}

// path writes the field from the top of the plan.
func (f *field) path() string {
	switch {
	case f == nil || f.key == "":
		return ""
	case f.parent.path() == "" || strings.HasPrefix(f.key, "["):
		return f.parent.path() + f.key
	}
	return f.parent.path() + "." + f.key
}

// name is the last key of the path, for messages.
func (f *field) name() string {
	for f != nil && strings.HasPrefix(f.key, "[") {
		f = f.parent
	}
	if f == nil || f.key == "" {
		return "the plan"
	}
	return f.key
}
