// Package dsl is the plan language: it loads plans, checks them, and documents itself. It knows no kind of action or
// probe (they are given as a [Vocabulary]), no engine and no CEL (an expression is kept with its text and its place).
//
// Loading goes in steps. Each file is parsed into nodes that remember where they were written (node.go, parse.go); short
// forms are expanded by the type of their field (decode_struct.go); files, presets and --set are merged, and what builds
// on something else (from, extends, use) is merged with it (merge.go, override.go, build.go); the result is decoded
// strictly by type (decode.go), with expressions left as holes; names are checked (names.go). A [Part] keeps its nodes, so
// that it can be bound to values later (bind.go).
//
// # Struct tags
//
// Plan types and the specs of kinds are structs whose tags say everything:
//
//	yaml:"name"       the key; "-" is no key
//	doc:"..."         documentation, for the schema, explain and the reference
//	required:"true"   the key must be there
//	default:"1s"      the value if it is left out, as it would be written
//	enum:"a|b"        the words that are allowed
//	min:"0" max:"9"   the range, as it would be written; for lists their length
//	words:"none=0"    a word that stands for a value of the field
//	short:"true"      a bare scalar or list instead of the mapping sets this field
//	kind:"true"       at most one of the fields with this tag may be written
//	eval:"run"        when expressions in the field and below are evaluated: plan, select, stage, run, live, judge
//	hole:"no"         no expressions here and below
//	path:"true"       a path that is resolved at the file that wrote it
//	uses:"loads"      the name of an entry of loads, with which the mapping is merged
//	ref:"targets"     the name of a target, scenario, stage, load, backend, relay
//	keys:"ident"      the keys of the mapping are identifiers
//	keys:"any"        they may be anything: x-... is no place for anchors, but a name (of a header)
//	merge:"replace"   values of the mapping are replaced whole when plans are merged
//	later:"why"       in the language, but this build cannot run it
//
// A field may be a string, bool, int, int64, float64, time.Duration, one of the scalar types of this package, a type with
// UnmarshalText, a [Value], an [Expr], a struct, a pointer to or slice of these, a [Map], or parts: [Part] of a struct,
// []Part[Action].
package dsl
