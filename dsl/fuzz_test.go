package dsl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// FuzzLoad loads anything: no panic, a place and a way out in every problem, and what loads clean resolves to what loads
// clean.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/hostile/*.yaml", "testdata/hostile/base/*.yaml", "testdata/sketches/*.yaml", "testdata/sketches/lib/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	base, err := os.ReadFile("testdata/hostile/base/base.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		opt := dsl.Options{Vocabulary: vocabulary, ReadFile: func(path string) ([]byte, error) {
			switch path {
			case "p.yaml":
				return src, nil
			case "base/base.yaml":
				return base, nil
			}
			return nil, fmt.Errorf("no such file")
		}}
		plan, list := dsl.Load("p.yaml", opt)
		for _, p := range list {
			if p.Pos.File == "" || p.Pos.Line < 1 || p.Pos.Col < 1 || p.Hint == "" || strings.Contains(p.Msg, "planrun cannot read this plan") {
				t.Errorf("%+v", p)
			}
		}
		if err := diag.Render(&strings.Builder{}, list, plan.Sources); err != nil {
			t.Error(err)
		}
		if list.HasErrors() {
			return
		}
		for i := range plan.Scenarios {
			for _, h := range plan.Scenarios[i].Holes() {
				h.Pos(1, len(h.Text))
			}
			plan.Scenarios[i].Bind(func(*dsl.Hole) (any, bool, error) { return 1.0, true, nil })
		}
		text := dsl.Resolved(plan, dsl.ResolvedOptions{})
		opt.ReadFile = func(string) ([]byte, error) { return text, nil }
		if _, again := dsl.Load("again.yaml", opt); again.HasErrors() {
			t.Errorf("%v\n%s", again, text)
		}
	})
}
