package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run.json reads as package json reads it, whatever stands in its metrics.
func TestFigures(t *testing.T) {
	for _, metrics := range []string{
		`{}`, `null`, `{"": {}}`, `{"":{"a":1,"b":-2.5e-3},"phase/x": { "a" : 12345678901234567890 }}`, "{\n \"\": {\n  \"a\": 1\n }\n}",
		`{"phase/\u0061": {"b\"": 1}}`, `{"p": {"a": null}}`, `{"p": null}`, `{"a": {"x}": 1, "y": 2}}`, `{"a": {"x": 1e999}}`, `{"a": {"x": "1"}}`, `{"a": [1]}`, `7`,
	} {
		text := `{"id": "x", "metrics": ` + metrics + `, "missing": {"a": "why", "b/c": "why"}, "status": "done"}`
		file := filepath.Join(t.TempDir(), "run.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want := new(Run)
		wrong := json.Unmarshal([]byte(text), want)
		got, err := readRun(file)
		if (err == nil) != (wrong == nil) {
			t.Errorf("%s: %v, want %v", metrics, err, wrong)
		} else if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", metrics, diff)
		}
	}
}

// Results are read as they were written.
func TestResultsRoundTrip(t *testing.T) {
	s := newSet(t)
	for _, r := range []*Results{
		{Version: Version, Plan: "empty", Cells: []Cell{}, Verdicts: []Judgement{}},
		{Version: Version, Plan: "\n \"cells\": []", About: "\n \"verdicts\": []", ExitWhy: "why", Targets: []Target{{Name: "a"}},
			Cells:    []Cell{{Coord: Coord{Stage: "a"}, Runs: []string{"1"}, Metrics: map[string]map[string]Value{"": {"x": {Value: 1, Runs: []float64{1, 2}}}}}, {Coord: Coord{Stage: "b"}}, {}},
			Verdicts: []Judgement{{Verdict: "v", Operands: []Operand{{"a", "1"}}}, {Verdict: "<&>"}}},
	} {
		if err := s.WriteResults(r); err != nil {
			t.Fatal(err)
		}
		got, err := s.Results()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Error(diff)
		}
		judged, err := s.Judged()
		if err != nil {
			t.Fatal(err)
		}
		if got.Cells = nil; !cmp.Equal(got, judged) {
			t.Error(cmp.Diff(got, judged))
		}
	}
	for _, damaged := range []string{"", "[]", `{"version": 1, "cells": {}}`, `{"version": 1, "cells": [{}`, `{"version": "x"}`} {
		if err := os.WriteFile(s.Path("results.json"), []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Results(); err == nil || !strings.Contains(err.Error(), "results.json") {
			t.Errorf("%q is read: %v", damaged, err)
		}
	}
}
