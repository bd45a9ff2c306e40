package engine_test

import (
	"reflect"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
)

// languageKeys lists every key of the language: Type.key of the plan's own structs, kind.key (kind.key.key) of actions, and
// probe KIND.key. Of what this build refuses as a whole there is one key, that of the kind.
func languageKeys() []string {
	var out []string
	seen := map[reflect.Type]bool{}
	var walk func(prefix string, t reflect.Type, own bool)
	fields := func(prefix string, t reflect.Type, own bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			key, tagged := f.Tag.Lookup("yaml")
			if f.Anonymous && !tagged {
				walk(prefix, f.Type, own)
				continue
			}
			if !f.IsExported() || !tagged || key == "-" {
				continue
			}
			out = append(out, prefix+"."+key)
			if f.Tag.Get("later") == "" {
				walk(prefix+"."+key, f.Type, own)
			}
		}
	}
	pkg := reflect.TypeFor[dsl.Plan]().PkgPath()
	walk = func(prefix string, t reflect.Type, own bool) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		if v, ok := t.FieldByName("Val"); ok { // an entry of a Map, a Part
			walk(prefix, v.Type, own)
			return
		}
		if t.PkgPath() == pkg { // named after itself, once
			if !seen[t] {
				seen[t] = true
				fields(t.Name(), t, true)
			}
			return
		}
		fields(prefix, t, own)
	}
	walk("", reflect.TypeFor[dsl.Plan](), true)
	for _, kinds := range []struct {
		prefix string
		kinds  []dsl.Kind
	}{{"", vocabulary.Actions}, {"probe ", vocabulary.Probes}} {
		for _, k := range kinds.kinds {
			if k.Later != "" {
				out = append(out, kinds.prefix+k.Name)
				continue
			}
			walk(kinds.prefix+k.Name, reflect.TypeOf(k.New()), false)
		}
	}
	for _, p := range dsl.PhaseKinds {
		out = append(out, "phase "+p.Name)
	}
	out = slices.DeleteFunc(out, func(k string) bool { return strings.HasPrefix(k, ".") })
	slices.Sort(out)
	return slices.Compact(out)
}
