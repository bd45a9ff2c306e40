package dsl

import (
	"reflect"
)

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
				words = append(words, w == "true", w)
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
