package plans_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/plans"
	"github.com/planrun/planrun/probes"
)

var vocabulary = dsl.Vocabulary{Actions: actions.Kinds, Probes: probes.Kinds}

// always are the probes that every run has.
var always = slices.DeleteFunc(slices.Clone(probes.Kinds), func(k dsl.Kind) bool { return k.Name != "process" && k.Name != "host" })

func read(path string) ([]byte, error) { return fs.ReadFile(plans.FS, path) }

// files lists the shipped YAML files of a kind: whole plans, those of published figures, what plans include, or targets.
func files(t testing.TB, kind string) []string {
	t.Helper()
	patterns := map[string]string{"plans": "*.yaml", "published": "published/*.yaml", "includes": "lib/*.yaml", "targets": "lib/targets/*.yaml"}
	out, err := fs.Glob(plans.FS, patterns[kind])
	if err != nil || len(out) == 0 {
		t.Fatalf("no %s: %v", kind, err)
	}
	return out
}

// offered is a machine that has everything: what this one lacks is no mistake of a plan.
func offered(feature string) machine.Offer { return machine.Offer{Feature: feature, OK: true} }

// check loads and compiles a plan, reading its files by read.
func check(file string, presets []string, read func(string) ([]byte, error)) (*engine.Program, diag.List) {
	plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, ReadFile: read, Presets: presets})
	if list.HasErrors() {
		return nil, list
	}
	prog, more := engine.Compile(plan, engine.Options{Always: always, ReadFile: read, Offered: offered})
	return prog, append(list, more...)
}

// TestShippedPlans checks that each plan compiles without a warning, with each of its presets, and can be run by this build.
func TestShippedPlans(t *testing.T) {
	for _, file := range files(t, "plans") {
		plan, _ := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, ReadFile: read})
		sets := [][]string{nil}
		for _, p := range plan.Presets {
			sets = append(sets, []string{p.Name})
		}
		for _, presets := range sets {
			prog, list := check(file, presets, read)
			if len(list) > 0 {
				t.Errorf("%s %v:\n%v", file, presets, list)
				continue
			}
			if len(prog.Cells) == 0 || len(prog.Later) > 0 {
				t.Errorf("%s %v: %d cells; this build cannot run %v", file, presets, len(prog.Cells), prog.Later)
			}
			if plan.About == "" {
				t.Errorf("%s does not say what it is about", file)
			}
		}
	}
}

// whole is a plan that holds one shipped file and nothing else of note.
func whole(kind, file string) string {
	text := "plan: one\nbackends: {web: {replicas: 1, routes: {bench.local: /}}}\ntargets: {target: {"
	if kind == "targets" {
		text += "from: " + file + "}}\nscenarios: {s: {phases: [measure: {for: 1s, do: [load: {endpoint: http}]}]}}\n"
	} else {
		text += "endpoints: {http: 127.0.0.1:8080, https: 127.0.0.1:8443}, unsupported: {churn: it is not ours to tell, config: it is not ours to tell}}}\ninclude: " + file + "\nschedule: [{stage: throughput}]\n"
	}
	return text
}

// TestShippedParts checks that each included file and target can be used by itself.
func TestShippedParts(t *testing.T) {
	for _, kind := range []string{"includes", "targets"} {
		for _, file := range files(t, kind) {
			_, list := check("one.yaml", nil, func(path string) ([]byte, error) {
				if path == "one.yaml" {
					return []byte(whole(kind, file)), nil
				}
				return read(path)
			})
			if len(list) > 0 {
				t.Errorf("%s:\n%v", file, list)
			}
		}
	}
}

// schema is the committed one, as editors read it; below is a definition in it, "" the whole.
func schema(t *testing.T, below string) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile("../schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json" + below)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaAcceptsShippedFiles validates every shipped file by schema.json: plans as they are, includes with a name of a
// plan, targets as the definition of one.
func TestSchemaAcceptsShippedFiles(t *testing.T) {
	plan, target := schema(t, ""), schema(t, "#/definitions/Target+")
	validate := func(s *jsonschema.Schema, file, before string) {
		b, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, before+string(b))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := s.Validate(asJSON(t, before+string(b)+"\nx_unknown: 1\n")); err == nil {
			t.Errorf("%s: an unknown key is accepted too", file)
		}
	}
	for _, f := range files(t, "plans") {
		validate(plan, f, "")
		if b, _ := read(f); !strings.HasPrefix(string(b), "# yaml-language-server: $schema=../schema.json\n") {
			t.Errorf("%s does not name its schema to editors", f)
		}
	}
	for _, f := range files(t, "published") {
		validate(plan, f, "")
		if b, _ := read(f); !strings.HasPrefix(string(b), "# yaml-language-server: $schema=../../schema.json\n") {
			t.Errorf("%s does not name its schema to editors", f)
		}
	}
	for _, f := range files(t, "includes") {
		validate(plan, f, "plan: one\n")
	}
	for _, f := range files(t, "targets") {
		validate(target, f, "")
	}
}

// asJSON reads YAML as an editor does.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
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
