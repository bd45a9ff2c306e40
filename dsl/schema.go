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
		many := schema{"type": "array", "items": one}
		if f != nil && f.min == "1" {
			many["minItems"] = 1
		}
		return schema{"anyOf": []any{one, many}}
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
		if k := find(b.vocab.Actions, "load"); k != nil {
			return b.kind("action", *k, true)
		}
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
