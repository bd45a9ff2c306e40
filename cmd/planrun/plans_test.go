package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A shipped file is found by what follows the last directory called plans; a file on the disk comes first.
func TestShippedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, found := range map[string]bool{
		"quickstart.yaml": true, "plans/quickstart.yaml": true, "./plans/quickstart.yaml": true, "/anywhere/plans/lib/targets/nginx.yaml": true,
		"a/plans/b/plans/round2.yaml": true, "a/quickstart.yaml": false, "plans/other.yaml": false, "plans/../quickstart.yaml": true, "lib": false, "": false,
	} {
		if _, err := readFile(path); (err == nil) != found {
			t.Errorf("%q: %v", path, err)
		}
	}
	if err := os.Mkdir("plans", 0o755); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join("plans", "quickstart.yaml")
	if err := os.WriteFile(own, []byte("plan: own\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := readFile(own); err != nil || !strings.HasPrefix(string(b), "plan: own") {
		t.Errorf("%q, %v", b, err)
	}
}

// Every shipped file says what it is about.
func TestShippedFilesSayWhatTheyAre(t *testing.T) {
	files := shippedFiles()
	if len(files) < 4 {
		t.Errorf("only %v", files)
	}
	for _, f := range files {
		if f.doc == "" {
			t.Errorf("%s says nothing of itself", f.name)
		}
	}
}
