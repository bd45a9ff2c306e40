package dsl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// TestFilesThatAreNoPlans loads what is too large, too deep, or no text at all.
func TestFilesThatAreNoPlans(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", `p.yaml:1:1: the file is empty; write at least plan: NAME`},
		{"comments only", "# plan: x\n", `p.yaml:1:1: the file is empty; write at least plan: NAME`},
		{"a text", "plan", `p.yaml:1:1: want a mapping, have "plan"; a file of a plan holds keys and values`},
		{"too large", strings.Repeat("#", 9<<20), `p.yaml:1:1: the file has 9437184 bytes; a plan may have 8388608; include files instead`},
		{"too deep", "plan: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), `p.yaml:1:107: nested more than 100 deep; plans are flat`},
		{"not UTF-8", "plan: \xff\xfe\n", `p.yaml:1:1: not YAML: invalid leading UTF-8 octet; see the text here and on the line before`},
		{"control characters", "plan: \x01\n", `p.yaml:1:1: not YAML: control characters are not allowed; see the text here and on the line before`},
	} {
		_, list := dsl.Load("p.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: func(string) ([]byte, error) { return []byte(tt.src), nil }})
		if !slices.Contains(strings.Split(list.Error(), "\n"), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.name, list, tt.want)
		}
	}
}

func TestPlanThatIsMissing(t *testing.T) {
	p, list := dsl.Load("testdata/missing.yaml", dsl.Options{})
	if got := list.Error(); got != "testdata/missing.yaml: the plan cannot be read: no such file or directory; check the path" || p == nil {
		t.Error(got)
	}
}

// TestPathsFromDisk checks that paths become absolute where the plan is read from disk.
func TestPathsFromDisk(t *testing.T) {
	p, _ := dsl.Load("testdata/sketches/round2.yaml", dsl.Options{Vocabulary: vocabulary})
	nginx := p.Targets.Get("nginx")
	if nginx == nil {
		t.Fatal("no target nginx")
	}
	got := nginx.Val.Install[0].Val.Spec.(*writeSpec).Template
	if !strings.HasPrefix(got, "/") || !strings.HasSuffix(got, "/testdata/sketches/lib/targets/nginx.conf.tmpl") {
		t.Errorf("the template is %s", got)
	}
	if b, err := p.ReadFile(got); err != nil || len(b) == 0 {
		t.Errorf("it cannot be read: %v", err)
	}
}
