package dsl_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

var update = flag.Bool("update", false, "write the golden files")

// wanted is an expected problem in a comment of the plan: # ERROR "..." for its own line, # ERROR@7 "..." for line 7.
var wanted = regexp.MustCompile(`# (ERROR|WARN)(?:@(\d+))? "(.*?)"(?: # |$)`)

// readHostile reads a file of the hostile plans by its path below their directory, so that messages do not depend on it.
func readHostile(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join("testdata/hostile", path))
}

func hostilePlans(t testing.TB) []string {
	files, err := filepath.Glob("testdata/hostile/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no hostile plans", err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// TestHostile loads plans that say in comments what is wrong with them, and compares every problem with its line.
func TestHostile(t *testing.T) {
	for _, file := range hostilePlans(t) {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, ReadFile: readHostile})
			got, want := map[string]int{}, map[string]int{}
			for _, p := range list {
				level := "ERROR"
				if p.Warning {
					level = "WARN"
				}
				if p.Pos.Line < 1 || p.Pos.Col < 1 || p.Hint == "" {
					t.Errorf("no place or nothing to do: %+v", p)
				}
				got[fmt.Sprintf("%s:%d: %s %s; %s", p.Pos.File, p.Pos.Line, level, p.Msg, p.Hint)]++
			}
			for name, src := range plan.Sources {
				for i, line := range strings.Split(string(src), "\n") {
					for _, m := range expectations(line) {
						at := fmt.Sprint(i + 1)
						if m[2] != "" {
							at = m[2]
						}
						want[fmt.Sprintf("%s:%s: %s %s", name, at, m[1], m[3])]++
					}
				}
			}
			for _, k := range slices.Sorted(maps.Keys(want)) {
				if got[k] != want[k] {
					t.Errorf("missing %s", k)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(got)) {
				if want[k] == 0 {
					t.Errorf("unexpected %s", k)
				}
			}
			golden(t, "testdata/hostile/"+strings.TrimSuffix(file, ".yaml")+".golden", rendered(t, list, plan.Sources))
		})
	}
}

// expectations returns the comments of a line.
func expectations(line string) [][]string {
	var out [][]string
	for _, part := range regexp.MustCompile(`# (?:ERROR|WARN)(?:@\d+)? "`).FindAllStringIndex(line, -1) {
		if m := wanted.FindStringSubmatch(line[part[0]:]); m != nil {
			out = append(out, m)
		}
	}
	return out
}

func rendered(t *testing.T, list diag.List, sources map[string][]byte) []byte {
	var b bytes.Buffer
	if err := diag.Render(&b, list, sources); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", file, got, want)
	}
}
