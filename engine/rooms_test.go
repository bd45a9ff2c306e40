package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ARCHITECTURE.md says of each file of this package in which room it is, once.
func TestEveryFileHasARoom(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rooms, found := strings.Cut(string(text), "\n## The rooms of the engine\n")
	if !found {
		t.Fatal("there are no rooms")
	}
	rooms, _, _ = strings.Cut(rooms, "\n## ")
	var named []string // names, or patterns of them
	for _, m := range regexp.MustCompile("`([a-z_*]+\\.go)`").FindAllStringSubmatch(rooms, -1) {
		named = append(named, m[1])
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range files {
		if f == "doc.go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		n := 0
		for _, pattern := range named {
			if ok, _ := filepath.Match(pattern, f); ok {
				used[pattern] = true
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is in %d rooms", f, n)
		}
	}
	for _, pattern := range named {
		if !used[pattern] {
			t.Errorf("%s is no file of this package", pattern)
		}
	}
}
