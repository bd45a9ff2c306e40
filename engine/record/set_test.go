package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCreate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "results")
	var dirs []string
	for range 3 {
		s, err := Create(CreateOptions{Plan: "../a plan, odd", Root: root, Start: began})
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.Base(s.Dir))
		if to, err := os.Readlink(filepath.Join(root, "latest")); err != nil || to != filepath.Base(s.Dir) {
			t.Errorf("latest leads to %q (%v), want %s", to, err, filepath.Base(s.Dir))
		}
		if _, err := Open(filepath.Join(root, "latest")); err != nil {
			t.Error(err)
		}
	}
	if got, want := strings.Join(dirs, " "), "a-plan-odd-20261130T070000Z a-plan-odd-20261130T070000Z-2 a-plan-odd-20261130T070000Z-3"; got != want {
		t.Errorf("made %s, want %s", got, want)
	}
}

func TestCreateOut(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(CreateOptions{Plan: "p", Out: dir}); err != nil {
		t.Errorf("an empty directory is refused: %v", err)
	}
	if _, err := Create(CreateOptions{Plan: "p", Out: dir}); err == nil || !strings.Contains(err.Error(), "holds files already") {
		t.Errorf("a set is written over: %v", err)
	}
	if _, err := Create(CreateOptions{Plan: "p", Out: filepath.Join(dir, "new", "deep")}); err != nil {
		t.Error(err)
	}
}

func TestCreateLeavesOthersAlone(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "latest"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(CreateOptions{Plan: "p", Root: root}); err == nil || !strings.Contains(err.Error(), "latest is no link") {
		t.Errorf("a directory named latest: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is no result set") {
		t.Errorf("got %v", err)
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{"h1-small": "h1-small", "a/../b": "a-..-b", "../..": "unnamed", "": "unnamed", "täst 1": "t-st-1", "---": "unnamed", ".hidden": "hidden"} {
		if got := slug(in); got != want {
			t.Errorf("slug(%q) = %q, want %q", in, got, want)
		}
	}
	if got := slug(strings.Repeat("long", 100)); len(got) > 60 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestRunOrder(t *testing.T) {
	s := newSet(t)
	for i := range 12 {
		r := &Run{Coord: Coord{Stage: "s", Scenario: "sc", Target: string(rune('z' - i)), Round: 1, Repeat: 1}, Status: Unsupported, Reason: "no nginx"}
		if err := s.WriteRun(r); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for r, err := range s.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		if want := string(rune('z' - n)); r.Coord.Target != want || r.Status != Unsupported {
			t.Errorf("run %d is of %s, want %s", n, r.Coord.Target, want)
		}
		n++
	}
	if n != 12 {
		t.Errorf("%d runs", n)
	}
}

func TestSetFiles(t *testing.T) {
	s := newSet(t)
	if err := s.WriteEnvironment(&Environment{Version: Version, Plan: "p", Sysctls: map[string]string{"a": "1"}}); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Environment(); err != nil || e.Plan != "p" {
		t.Errorf("%+v %v", e, err)
	}
	for i, name := range []string{"second", "first"} {
		if err := s.WriteStage(&Stage{Name: name, Round: 1, Start: began.Add(-time.Duration(i) * time.Hour), Params: map[string]any{"rate": 5.0}}); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := s.Stages(); err != nil || len(st) != 2 || st[0].Name != "first" || st[0].Params["rate"] != 5.0 {
		t.Errorf("%+v %v", st, err)
	}
	if err := s.WriteResults(&Results{Version: Version + 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Results(); err == nil || !strings.Contains(err.Error(), "use a newer planrun") {
		t.Errorf("a newer version: %v", err)
	}
	// Nothing half-written is left beside the files.
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}
