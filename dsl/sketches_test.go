package dsl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// sketches are the plans of the design.
var sketches = []string{"quickstart", "round2", "proxy-capacity", "thread-concentration"}

const standIn = "about: stands in for a target that the sketch does not show\ninstall: [start: {command: [x], listen: [http]}]\n"

// readSketch gives targets that the sketches name and do not show a body.
func readSketch(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) && strings.Contains(path, "/targets/") {
		return []byte(standIn), nil
	}
	return b, err
}

func loadSketch(t testing.TB, name string, opt dsl.Options) *dsl.Plan {
	t.Helper()
	opt.Vocabulary, opt.ReadFile = vocabulary, readSketch
	p, list := dsl.Load("testdata/sketches/"+name+".yaml", opt)
	for _, problem := range list {
		t.Errorf("%v", problem)
	}
	return p
}

func TestSketchesLoadClean(t *testing.T) {
	for _, name := range sketches {
		t.Run(name, func(t *testing.T) {
			p := loadSketch(t, name, dsl.Options{})
			if p.Name != name || len(p.Targets) == 0 || len(p.Scenarios) == 0 {
				t.Errorf("plan %q with %d targets and %d scenarios", p.Name, len(p.Targets), len(p.Scenarios))
			}
		})
	}
}
