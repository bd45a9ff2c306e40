package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/verdict"
)

// TestGenerated checks that the committed files are what the commands print; -update (or make generate) writes them.
func TestGenerated(t *testing.T) {
	for file, args := range map[string][]string{"../../schema.json": {"schema"}, "../../docs/reference.md": {"explain", "--reference"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, nil, &stdout, &stderr); code != exitOK {
			t.Fatalf("planrun %v: exit %d\n%s", args, code, &stderr)
		}
		if *update {
			if err := os.WriteFile(file, stdout.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, stdout.Bytes()) {
			t.Errorf("%s is not what planrun %s prints; run make generate", file, strings.Join(args, " "))
		}
	}
}

// TestSchemaIsDocumented checks that an editor has something to say of every key, and that it completes every kind.
func TestSchemaIsDocumented(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(dsl.Schema(vocabulary), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(path, item)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name, p := range properties {
				seen[name] = true
				if d, _ := p.(map[string]any)["description"].(string); strings.TrimSpace(d) == "" {
					t.Errorf("%s: %s has no description", path, name)
				}
			}
			for k, below := range v {
				walk(path+"/"+k, below)
			}
		}
	}
	walk("", doc)
	kinds := append(kinds(vocabulary.Actions), kinds(vocabulary.Probes)...)
	for _, k := range append(kinds, phaseKinds()...) {
		if !seen[k.name] {
			t.Errorf("the schema does not have the kind %s", k.name)
		}
	}
	if len(seen) < 150 {
		t.Errorf("only %d keys", len(seen))
	}
}

// TestReferenceHasEverything checks that each kind, function and metric is in the reference, and that its tables are whole.
func TestReferenceHasEverything(t *testing.T) {
	var b bytes.Buffer
	if err := writeReference(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	var want []string
	for _, k := range append(append([]dsl.Kind{}, vocabulary.Actions...), vocabulary.Probes...) {
		want = append(want, "\n### "+k.Name+"\n")
	}
	for _, f := range verdict.Functions() {
		want = append(want, "\n| "+code(f.Usage)+" |")
	}
	for _, d := range measure.Catalogue() {
		want = append(want, "\n| `"+d.Name+"` |")
	}
	for _, x := range measure.Texts {
		want = append(want, "\n| `"+x.Name+"` |")
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the reference does not have %q", w)
		}
	}
	bars := regexp.MustCompile(`(^|[^\\])\|`)
	columns := 0
	for i, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := len(bars.FindAllString(line, -1))
		if columns > 0 && n != columns {
			t.Errorf("line %d of the reference has %d columns, not %d: %s", i+1, n-1, columns-1, line)
		}
		columns = n
	}
}
