package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file that could not be written whole, for an error or an interrupt, is as it was, and nothing is left beside it.
func TestIntoKeepsTheOldFile(t *testing.T) {
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx   context.Context
		write func(io.Writer) error
		exit  int
		text  string
	}{
		"whole": {t.Context(), func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }, exitOK, "new"},
		"error": {t.Context(), func(w io.Writer) error { _, err := io.WriteString(w, "new"); return errors.Join(err, broken) }, exitHarness, "old"},
		"interrupt": {ended, func(w io.Writer) error {
			_, err := io.WriteString(w, "ne")
			cancel()
			_, again := io.WriteString(w, "w")
			return errors.Join(err, again)
		}, exitInterrupted, "old"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &program{out: new(bytes.Buffer)}
		err := p.into(test.ctx, path, test.write)
		if (err == nil) != (test.exit == exitOK) || p.exit != test.exit {
			t.Errorf("%s: exit %d (%v), want %d", name, p.exit, err, test.exit)
		}
		b, err := os.ReadFile(path)
		if err != nil || string(b) != test.text {
			t.Errorf("%s: the file holds %q (%v), want %q", name, b, err, test.text)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: its mode is %v (%v)", name, info.Mode(), err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: beside it are %v (%v)", name, entries, err)
		}
	}
}
