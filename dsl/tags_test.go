package dsl_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// TestKeys checks that every key of the language is kebab-case, and one that no version of YAML reads as anything but text.
func TestKeys(t *testing.T) {
	var doc any
	if err := json.Unmarshal(dsl.Schema(vocabulary), &doc); err != nil {
		t.Fatal(err)
	}
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	notText := strings.Fields("y n yes no on off true false null")
	seen := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, it := range v {
				walk(it)
			}
		case map[string]any:
			props, _ := v["properties"].(map[string]any)
			for key := range props {
				seen++
				if !kebab.MatchString(key) || slices.Contains(notText, key) {
					t.Errorf("the key %q", key)
				}
			}
			for _, it := range v {
				walk(it)
			}
		}
	}
	walk(doc)
	if seen < 100 {
		t.Errorf("only %d keys", seen)
	}
}
