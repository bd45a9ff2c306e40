package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Reference is the reference page of the plan language, in Markdown: every key, kind and type that plans of the
// vocabulary can use.
func Reference(vocab Vocabulary) []byte {
	r := &reference{seen: map[reflect.Type]bool{}}
	r.b.WriteString("# Reference of the plan language\n\nGenerated from the types of package dsl and of the kinds; do not edit.\n\n")
	r.scalars()
	r.b.WriteString("## Top level\n\n")
	r.table(structOf(typePlan))
	for _, f := range structOf(typePlan).fields {
		if t := inner(f.typ); hasFields(t) && t != typeAction && t != typeProbe {
			fmt.Fprintf(&r.b, "## %s\n\n%s\n\n", f.key, sentence(f.doc))
			r.structure(f.key, t)
		}
	}
	r.b.WriteString("## Phases\n\nA phase is a mapping with one of these as its key; the rest stands below it.\n\n| phase | |\n|---|---|\n")
	for _, k := range PhaseKinds {
		fmt.Fprintf(&r.b, "| `%s` | %s |\n", k.Name, cell(k.Doc))
	}
	r.b.WriteString("\n")
	r.structure("phase", typePhase)
	r.b.WriteString("## Actions\n\nAn action is a mapping with one kind as a key, beside these:\n\n")
	r.structure("action", typeAction)
	r.kinds(vocab.Actions)
	r.b.WriteString("## Probes\n\nA probe is a mapping with one kind as a key. These stand beside it or below it:\n\n")
	r.structure("probe", typeProbe)
	r.kinds(vocab.Probes)
	return []byte(strings.TrimRight(r.b.String(), "\n") + "\n")
}

type reference struct {
	b    strings.Builder
	seen map[reflect.Type]bool
}

func (r *reference) scalars() {
	r.b.WriteString("## Scalars\n\nA bare number is no duration, size with a unit or percentage. `${{ CEL }}` can stand in any scalar unless the key says otherwise; a scalar that is nothing but an expression keeps the value's type, and its number is in the base unit (seconds, bytes, a second).\n\n| type | |\n|---|---|\n")
	var rows []string
	for t, c := range codecs {
		rows = append(rows, fmt.Sprintf("| %s | %s |\n", strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(t.String(), "dsl."), "time.")), cell(c.want)))
	}
	slices.Sort(rows)
	r.b.WriteString(strings.Join(rows, "") + "\n")
}

func (r *reference) kinds(kinds []Kind) {
	for _, k := range kinds {
		fmt.Fprintf(&r.b, "### %s\n\n%s\n\n", k.Name, k.Doc)
		if k.Later != "" {
			fmt.Fprintf(&r.b, "This build cannot run it: %s.\n\n", k.Later)
		}
		s := structOf(reflect.TypeOf(k.New()).Elem())
		short := k.Short
		if short == "" && s.short != nil {
			short = s.short.key
		}
		if short != "" {
			fmt.Fprintf(&r.b, "`%s: X` is short for `%s: {%s: X}`.\n\n", k.Name, k.Name, short)
		}
		r.structure(k.Name, s.typ)
	}
}

// structure writes the table of a struct and of the structs in it that were not written yet.
func (r *reference) structure(name string, t reflect.Type) {
	if r.seen[t] || t == typeLoad {
		return
	}
	r.seen[t] = true
	s := structOf(t)
	if len(s.fields) == 0 {
		r.b.WriteString("No keys.\n\n")
		return
	}
	r.table(s)
	for _, f := range s.fields {
		if in := inner(f.typ); hasFields(in) && !r.seen[in] && in != typeAction && in != typePhase && in != typeProbe {
			fmt.Fprintf(&r.b, "#### %s.%s\n\n", name, f.key)
			r.structure(name+"."+f.key, in)
		}
	}
}

func (r *reference) table(s *structType) {
	r.b.WriteString("| key | type | |\n|---|---|---|\n")
	for _, f := range s.fields {
		doc := f.doc
		for _, row := range facts(f)[1:] {
			if row[0] == "no" {
				continue
			}
			text, _, _ := strings.Cut(row[1], ": ") // of the time of evaluation, its name
			doc += fmt.Sprintf("; %s: %s", row[0], text)
		}
		fmt.Fprintf(&r.b, "| `%s` | %s | %s |\n", f.key, cell(typeText(f.typ, f)), cell(doc))
	}
	r.b.WriteString("\n")
}

// cell makes text safe in a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
