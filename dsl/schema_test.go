package dsl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl"
)

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(dsl.Schema(vocabulary)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON reads YAML as an editor would, for validation.
func asJSON(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(b, &v); err != nil {
		return nil
	}
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSchemaAcceptsPlans(t *testing.T) {
	s := compileSchema(t)
	files, _ := filepath.Glob("testdata/sketches/*.yaml")
	resolved, _ := filepath.Glob("testdata/resolved/*.yaml")
	files = append(files, resolved...)
	files = append(files, "testdata/hostile/base/base.yaml", "testdata/hostile/braces-block.yaml")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, b)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// What a schema cannot see: what is wrong between files, names, positions, or YAML itself.
var schemaCannotSee = map[string]bool{
	"references": true, "twice": true, "includes": true, "nothing": true, "merge-key": true, "folded-comment": true, "braces-block": true,
	"duplicate-keys": true, "comma-list": true, "second-document": true, "cycle": true, "bomb": true, "tags": true, "nulls": true, "unpublished": true,
	// not YAML at all:
	"tag-and": true, "ternary": true, "ternary-flow": true, "greater": true, "after-quote": true, "tab": true, "not-yaml": true, "anchor": true, "braces": true,
}

func TestSchemaRefusesHostilePlans(t *testing.T) {
	s := compileSchema(t)
	for _, file := range hostilePlans(t) {
		name := strings.TrimSuffix(file, ".yaml")
		if schemaCannotSee[name] {
			continue
		}
		b, err := readHostile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, b)); err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

func TestSchemaRefusesOneByOne(t *testing.T) {
	s := compileSchema(t)
	for _, text := range []string{
		"plan: x\nabuot: y", "plan: x\nloads: {a: {conections: 4}}", "plan: x\nscenarios: {s: {phases: [mesure: {}]}}",
		"plan: x\nscenarios: {s: {phases: [measure: {for: 1s, do: [laod: x]}]}}", "plan: x\nscenarios: {s: {phases: [measure: {for: 5}]}}",
		"plan: x\nscenarios: {s: {phases: [measure: {for: 1s, do: [{load: x, wait: {tcp: a}}]}]}}",
		"plan: x\nscenarios: {s: {repeats: 1.5}}", "plan: x\nscenarios: {s: {repeats: 0}}", "plan: x\nscenarios: {s: {fresh: never}}",
		"plan: x\nverdicts: [{pass: a}]", "plan: x\nverdicts: [{verdict: a, pass: '${{ x }}'}]", "plan: x\nverdicts: [{verdict: a, gate: maybe}]",
		"plan: x\nparams: {A-b: 1}", "plan: x\nhost: {cpus: {sut: one}}", "plan: x\nhost: {guards: {rate-delivered: 0.9}}",
		"plan: x\nprobes: [{relay: {of: a}, host: {of: b}}]", "plan: x\nbackends: {w: {ready: {tcp: a, log: b}}}",
		"about: no plan", "plan: x\nreport: [{table: t, ratios: [{of: a}]}]",
	} {
		if s.Validate(asJSON(t, []byte(text))) == nil {
			t.Errorf("the schema accepts\n%s", text)
		}
	}
}

// TestSchemaDocumentsEverything checks that every property has a description.
func TestSchemaDocumentsEverything(t *testing.T) {
	var doc any
	if err := json.Unmarshal(dsl.Schema(vocabulary), &doc); err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			if l, ok := v.([]any); ok {
				for _, it := range l {
					walk(path, it)
				}
			}
			return
		}
		if props, ok := m["properties"].(map[string]any); ok {
			for name, p := range props {
				count++
				if d, _ := p.(map[string]any)["description"].(string); d == "" {
					t.Errorf("%s.%s has no description", path, name)
				}
			}
		}
		for k, c := range m {
			walk(path+"/"+k, c)
		}
	}
	walk("", doc)
	if count < 100 {
		t.Errorf("only %d properties", count)
	}
}
