package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
)

// sketches are plans that the language must be able to say, beside the shipped ones.
const sketches = "../../dsl/testdata/sketches/"

// standIn is a target that a sketch names and does not show. It has every endpoint and knob that the sketches use.
const standIn = `about: stands in for a target that the sketch does not show
with: {workers: 2, max_concurrent_streams: 100}
install: [start: {command: [a-program-of-the-sketch], listen: [http, https, h2c, proxy, metrics]}]
routes-changed: [exec: ["true"]]
`

func compileSketch(t *testing.T, name string) (*engine.Program, diag.List) {
	t.Helper()
	read := func(path string) ([]byte, error) {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && strings.Contains(path, "/targets/") {
			return []byte(standIn), nil
		}
		return b, err
	}
	plan, list := dsl.Load(sketches+name+".yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: read})
	if list.HasErrors() {
		return nil, list
	}
	prog, more := engine.Compile(plan, engine.Options{Always: always(), ReadFile: read})
	return prog, append(list, more...)
}

// What later builds are for is in the language already: it checks clean, with the real vocabulary, and run refuses each
// part that this build lacks at its place, before anything is done.
func TestSketches(t *testing.T) {
	for _, name := range []string{"quickstart", "round2", "proxy-capacity", "thread-concentration"} {
		t.Run(name, func(t *testing.T) {
			prog, list := compileSketch(t, name)
			if list.HasErrors() {
				t.Fatalf("it does not check clean:\n%v", list)
			}
			if len(prog.Cells) == 0 {
				t.Error("it has no cells")
			}
			if name == "quickstart" || name == "round2" {
				if len(prog.Later) > 0 {
					t.Errorf("this build should be able to run it, but %v", prog.Later)
				}
				return
			}
			dir := filepath.Join(t.TempDir(), "set")
			_, err := prog.Run(t.Context(), engine.RunOptions{Out: dir})
			var refused diag.List
			if !errors.As(err, &refused) || !refused.HasErrors() {
				t.Fatalf("it was not refused, but %v", err)
			}
			for _, p := range refused {
				if !p.Pos.IsValid() || !strings.HasPrefix(p.Pos.File, sketches[:10]) {
					t.Errorf("no place: %v", p)
				}
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was done before: %v", err)
			}
		})
	}
}
