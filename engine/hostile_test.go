package engine_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
)

// wantedProblem is an expected problem in a comment of the plan, for its own line or the one behind the @:
// # ERROR COLUMN "message; hint", # ERROR@LINE COLUMN "message; hint".
var wantedProblem = regexp.MustCompile(`# (ERROR|WARN)(?:@(\d+))? (\d+) "(.*?)"(?: # |$)`)

// TestHostile checks plans that say in comments what is wrong with them: what only the kinds, the cells and the
// expressions show. All of it is found in one pass.
func TestHostile(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no hostile plans", err)
	}
	read := func(path string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata/hostile", path)) }
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			plan, list := dsl.Load(filepath.Base(file), dsl.Options{Vocabulary: vocabulary, ReadFile: read})
			list = append(list, engine.Check(plan, list, engine.Options{ReadFile: read})...)
			got := map[string]bool{}
			for _, p := range list {
				level := "ERROR"
				if p.Warning {
					level = "WARN"
				}
				text := p.Msg
				if p.Hint != "" {
					text += "; " + p.Hint
				}
				got[fmt.Sprintf(`%s:%d # %s %d "%s"`, p.Pos.File, p.Pos.Line, level, p.Pos.Col, text)] = true
			}
			want := map[string]bool{}
			for name, src := range plan.Sources {
				for i, line := range strings.Split(string(src), "\n") {
					for _, begin := range regexp.MustCompile(`# (?:ERROR|WARN)(?:@\d+)? \d`).FindAllStringIndex(line, -1) {
						if m := wantedProblem.FindStringSubmatch(line[begin[0]:]); m != nil {
							at := fmt.Sprint(i + 1)
							if m[2] != "" {
								at = m[2]
							}
							want[fmt.Sprintf(`%s:%s # %s %s "%s"`, name, at, m[1], m[3], m[4])] = true
						}
					}
				}
			}
			for _, k := range slices.Sorted(maps.Keys(want)) {
				if !got[k] {
					t.Errorf("missing    %s", k)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(got)) {
				if !want[k] {
					t.Errorf("unexpected %s", k)
				}
			}
		})
	}
}
