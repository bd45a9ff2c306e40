package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A colon may stand in the name of a directory, and in that of a target.
func TestNamed(t *testing.T) {
	root := t.TempDir()
	set, colon := filepath.Join(root, "set"), filepath.Join(root, "a:b")
	for _, dir := range []string{set, colon} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ arg, dir, target string }{
		{set, set, ""},
		{colon, colon, ""},
		{set + ":nginx", set, "nginx"},
		{set + ":nginx:1.26", set, "nginx:1.26"},
		{colon + ":nginx", colon, "nginx"},
		{set + ":", set, ""},
		{"gone:nginx", "gone", "nginx"},
		{":nginx", ":nginx", ""},
	} {
		if dir, target := named(c.arg); dir != c.dir || target != c.target {
			t.Errorf("%s is target %q of %q, want %q of %q", c.arg, target, dir, c.target, c.dir)
		}
	}
}
