package dsl

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Schema returns the JSON Schema (draft 7, which editors' YAML servers know best) of plans that use the vocabulary. It
// accepts what Load accepts; what only merging, names or expressions can tell is left to Load.
func Schema(vocab Vocabulary) []byte {
	b := &schemaBuilder{vocab: &vocab, defs: map[string]schema{}}
	root := b.structure(structOf(typePlan), "", true)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "planrun plan"
	root["description"] = "A plan of planrun: installs targets, drives load at them, breaks what is around them, and judges."
	root["required"] = []string{"plan"}
	root["patternProperties"] = extension
	b.defs["hole"] = schema{"type": "string", "pattern": `\$\{\{`, "description": "an expression: ${{ CEL }}"}
	b.defs["expression"] = schema{
		"description": "a CEL expression, without ${{ }}",
		"anyOf":       []any{schema{"type": "string", "not": schema{"pattern": `\$\{\{`}, "minLength": 1}, schema{"type": []string{"boolean", "number"}}},
	}
	root["definitions"] = b.defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("dsl: the schema cannot be written: " + err.Error())
	}
	return out.Bytes()
}

type schema = map[string]any

// extension allows x- keys with anything in them.
var extension = schema{"^x-": true}

type schemaBuilder struct {
	vocab *Vocabulary
	defs  map[string]schema
}

func ref(name string) schema { return schema{"$ref": "#/definitions/" + name} }

// define makes a definition once and returns a reference to it.
func (b *schemaBuilder) define(name string, make func() schema) schema {
	if _, ok := b.defs[name]; !ok {
		b.defs[name] = schema{}
		b.defs[name] = make()
	}
	return ref(name)
}

// structure is the long form of a struct. Where mappings are merged no key can be demanded.
func (b *schemaBuilder) structure(s *structType, except string, merged bool) schema {
	props := schema{}
	var required []string
	for _, f := range s.fields {
		props[f.key] = b.field(f, merged)
		if f.required && !merged && f.key != except {
			required = append(required, f.key)
		}
	}
	out := schema{"type": "object", "properties": props, "additionalProperties": false, "patternProperties": extension}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(s.kinds) > 1 {
		out["allOf"] = []any{exclusive(s.kinds)}
	}
	return out
}

// exclusive allows at most one of the kinds.
func exclusive(kinds []*fieldType) schema {
	var one, any_ []any
	for _, k := range kinds {
		one = append(one, schema{"required": []string{k.key}})
		any_ = append(any_, schema{"required": []string{k.key}})
	}
	return schema{"oneOf": append(one, schema{"not": schema{"anyOf": any_}})}
}

// field is the value of a struct's field.
func (b *schemaBuilder) field(f *fieldType, merged bool) schema {
	s := b.typed(f.typ, f, merged)
	alt := []any{s}
	if !f.noHole && !b.takesText(f.typ, f) {
		alt = append(alt, ref("hole"))
	}
	if merged && !f.required {
		alt = append(alt, schema{"type": "null", "description": "null removes what this builds on"})
	}
	out := schema{"description": describeField(f)}
	if len(alt) == 1 {
		if _, isRef := s["$ref"]; isRef {
			out["allOf"] = alt
		} else {
			for k, v := range s {
				if k != "description" {
					out[k] = v
				}
			}
		}
	} else {
		out["anyOf"] = alt
	}
	if f.def != "" {
		out["default"] = jsonDefault(f)
	}
	return out
}

// takesText reports whether any text is allowed anyway, so that expressions need no word of their own.
func (b *schemaBuilder) takesText(t reflect.Type, f *fieldType) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sh, _ := shapeOf(t)
	c := codecOf(t)
	return sh == shapeExpr || sh == shapeValue || sh == shapeScalar && c.json == "string" && c.pattern == "" && len(f.enum) == 0
}

// typed is the schema of a type, without expressions.
func (b *schemaBuilder) typed(t reflect.Type, f *fieldType, merged bool) schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sh, elem := shapeOf(t)
	switch sh {
	case shapeScalar:
		return b.scalar(codecOf(t), f)
	case shapeExpr:
		return ref("expression")
	case shapeValue:
		return schema{}
	case shapeStrings:
		one := b.scalar(codecOf(elem), f)
		return schema{"anyOf": []any{one, schema{"type": "array", "items": one}}}
	case shapeList:
		out := schema{"type": "array", "items": b.element(elem, f, false)}
		if f != nil && f.min == "1" {
			out["minItems"] = 1
		}
		return out
	case shapePart:
		return b.typed(elem, f, merged)
	case shapeMap, shapeGoMap, shapeParts:
		val := b.element(elem, f, merged)
		if merged {
			val = schema{"anyOf": []any{val, schema{"type": "null"}}}
		}
		out := schema{"type": "object", "additionalProperties": val, "patternProperties": extension}
		if f != nil && f.keys == "ident" {
			out["propertyNames"] = schema{"pattern": `^(x-.*|[a-z][a-z0-9]*(_[a-z0-9]+)*)$`}
		}
		return out
	case shapeStruct:
		return b.define(defName(t, merged), func() schema {
			return b.withShort(structOf(t), b.structure(structOf(t), "", merged), "", merged)
		})
	case shapeAction:
		return b.define("Action", func() schema { return b.kinds(typeAction, b.vocab.Actions) })
	case shapeProbe:
		return b.define("Probe", func() schema { return b.kinds(typeProbe, b.vocab.Probes) })
	case shapePhase:
		return b.define("Phase", b.phase)
	case shapeLoad:
		return b.kind("action", *find(b.vocab.Actions, "load"), true)
	}
	return schema{}
}

// element is a value of a list or mapping: the tags of the field are those of its scalars.
func (b *schemaBuilder) element(t reflect.Type, f *fieldType, merged bool) schema {
	s := b.typed(t, f, merged)
	if sh, _ := shapeOf(t); f != nil && !f.noHole && sh == shapeScalar && !b.takesText(t, f) {
		return schema{"anyOf": []any{s, ref("hole")}}
	}
	return s
}

func defName(t reflect.Type, merged bool) string {
	name := t.String()
	name = strings.TrimPrefix(name, "dsl.")
	if merged {
		name += "+"
	}
	return strings.ReplaceAll(name, "/", "_")
}

// withShort allows the short form of a struct.
func (b *schemaBuilder) withShort(s *structType, long schema, shortKey string, merged bool) schema {
	f := s.short
	if shortKey != "" {
		f = s.byKey[shortKey]
	}
	if f == nil {
		return long
	}
	short := b.typed(f.typ, f, merged)
	if sh, _ := shapeOf(f.typ); sh == shapeValue {
		short = schema{"not": schema{"type": "object"}}
	} else if !f.noHole && !b.takesText(f.typ, f) {
		short = schema{"anyOf": []any{short, ref("hole")}}
	}
	return schema{"anyOf": []any{long, schema{"allOf": []any{short}, "description": "short for {" + f.key + ": ...}: " + f.doc}}}
}

// kinds is a mapping with exactly one kind as a key, beside the keys that all have.
func (b *schemaBuilder) kinds(t reflect.Type, kinds []Kind) schema {
	out := b.structure(structOf(t), "", false)
	props := out["properties"].(schema)
	var one, bare []any
	what := "action"
	if t == typeProbe {
		what = "probe"
	}
	for _, k := range kinds {
		doc := k.Doc
		if k.Later != "" {
			doc += " This build cannot run it: " + k.Later + "."
		}
		s := b.kind(what, k, false)
		props[k.Name] = schema{"description": doc, "allOf": []any{s}}
		one = append(one, schema{"required": []string{k.Name}})
		bare = append(bare, k.Name)
	}
	out["oneOf"] = one
	if t == typeProbe {
		return schema{"anyOf": []any{out, schema{"enum": bare}}}
	}
	return schema{"anyOf": []any{out, ref("hole")}}
}

// kind is the value of a kind's key.
func (b *schemaBuilder) kind(what string, k Kind, merged bool) schema {
	name := what + " " + k.Name
	if merged {
		name += "+"
	}
	return b.define(name, func() schema {
		s := structOf(reflect.TypeOf(k.New()).Elem())
		long := b.structure(s, "", merged || s.uses != nil)
		short := k.Short
		if what == "probe" {
			all := structOf(typeProbe)
			for _, f := range all.fields {
				if s.byKey[f.key] == nil {
					long["properties"].(schema)[f.key] = b.field(f, false)
				}
			}
			if short == "" && s.short == nil {
				of := b.field(all.byKey["of"], false)
				return schema{"anyOf": []any{long, of, ref("hole")}}
			}
		}
		return schema{"anyOf": []any{b.withShort(s, long, short, merged), ref("hole")}}
	})
}

// phase is a mapping of exactly one kind.
func (b *schemaBuilder) phase() schema {
	body := b.define("Phase body", func() schema { return b.structure(structOf(typePhase), "", false) })
	props := schema{}
	var one []any
	for _, k := range PhaseKinds {
		props[k.Name] = schema{"description": k.Doc, "allOf": []any{body}}
		one = append(one, schema{"required": []string{k.Name}})
	}
	return schema{"type": "object", "properties": props, "oneOf": one, "additionalProperties": false, "patternProperties": extension}
}

// scalar is the schema of one scalar.
func (b *schemaBuilder) scalar(c *codec, f *fieldType) schema {
	var out schema
	switch {
	case f != nil && len(f.enum) > 0:
		var words []any
		for _, w := range f.enum {
			switch w {
			case "true", "false":
				words = append(words, w == "true")
			default:
				words = append(words, w)
			}
		}
		out = schema{"enum": words}
	case c.json == "string" && c.pattern == "":
		out = schema{"type": []string{"string", "number", "boolean"}}
	case c.json == "string":
		out = schema{"type": "string", "pattern": c.pattern}
		if c.plainNumber() {
			out = schema{"anyOf": []any{out, schema{"type": "number"}}}
		}
	default:
		out = schema{"type": c.json}
		if f != nil {
			limit(out, "minimum", c, f.min)
			limit(out, "maximum", c, f.max)
		}
	}
	if f != nil && len(f.words) > 0 {
		alt := []any{out}
		for w := range f.words {
			alt = append(alt, schema{"const": w})
		}
		out = schema{"anyOf": alt}
	}
	return out
}

// plainNumber reports whether a bare number is one of these too.
func (c *codec) plainNumber() bool {
	_, err := c.parse("1")
	return err == nil
}

func limit(out schema, key string, c *codec, text string) {
	if text == "" {
		return
	}
	if v, err := c.parse(text); err == nil {
		if f, ok := numeric(reflect.ValueOf(v)); ok {
			out[key] = f
		}
	}
}

// jsonDefault is a default as JSON.
func jsonDefault(f *fieldType) any {
	if c := codecOf(f.typ); c != nil && c.json != "string" {
		if v, err := c.parse(f.def); err == nil {
			return v
		}
	}
	return f.def
}

// describeField is a field's documentation with what its other tags say.
func describeField(f *fieldType) string {
	doc := f.doc
	if f.def != "" {
		doc += "; default " + f.def
	}
	if f.later != "" {
		doc += "; this build cannot run it: " + f.later
	}
	return doc
}
