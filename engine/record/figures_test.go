package record

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
		got, err := newReader().run(file)
		if (err == nil) != (wrong == nil) {
			t.Errorf("%s: %v, want %v", metrics, err, wrong)
		} else if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Run{})); err == nil && diff != "" {
			t.Errorf("%s: %s", metrics, diff)
		}
	}
}

// Cells are encoded and decoded as package json does it, whatever stands in them.
func TestCellsAsJSON(t *testing.T) {
	values := map[string]Value{"a": {Value: 1.5, Runs: []float64{1, 2e20, 3e21, -1e-7, 0.25, 5e-324, math.MaxFloat64}}, "b": {Runs: []float64{}}, "c": {}, "d_\"<é\n": {Runs: []float64{-0.5}, Tainted: "a < b"},
		"e": {Value: 2, Whole: map[string]float64{"min": 1}}, "f": {Runs: []float64{1}, Tainted: "in 1 of 2 runs"}}
	for _, c := range []Cell{
		{}, {Metrics: CellWindows{}}, {Metrics: CellWindows{"": nil, "phase/x": new(CellWindow)}},
		{Coord: Coord{Stage: `"metrics":{}`, Matrix: []Axis{{"a", "1"}}}, Reason: "\"metrics\":{}", Runs: []string{"1"}, Metrics: CellWindowsOf(map[string]map[string]Value{"": values, "phase/\u2028": values}), Missing: map[string]string{"x": "y"}, Shared: true},
	} {
		want, _ := json.Marshal(&c)
		text, err := encode(&c)
		if err != nil || string(text) != string(want) {
			t.Errorf("%v: %s\nwant %s", err, text, want)
		}
		checkCell(t, text)
	}
	if _, err := encode(&Cell{Metrics: CellWindowsOf(map[string]map[string]Value{"": {"x": {Runs: []float64{math.NaN()}}}})}); err == nil {
		t.Error("what is not a number is encoded")
	}
	for _, metrics := range []string{`null`, `7`, `{"": null}`, `{"": {"a": {"value": 01, "runs": []}}}`, `{"": {"a": {"value": 1, "runs": [1,]}}}`, `{"": {"a": {"value": 1.}}}`, `{"": {"a": {"value": +1}}}`,
		`{"": {"a": {"value": 1e5, "runs": [1, 2E-3, -0]}, "a": {"value": 2}}}`, `{"": {"a": {"value": 1, "other": 2}}}`, `{"": {"a": {"tainted": "\u0061"}}}`, `{"": {"a": {}}`, `{}, "metrics": {"": {"a": {"value": 1}}}`} {
		checkCell(t, []byte(`{"coord": {"stage": "}\"]"}, "metrics": `+metrics+`, "shared": true}`))
	}
	for _, text := range []string{``, `null`, `[]`, `{`, `{"metrics": {}`, `{"metrics": {}} x`, `{"runs": [[1}], "metrics": {}}`, `{"metrics": {}, "runs": }`, `{"metrics": {},}`} {
		checkCell(t, []byte(text))
	}
}

func checkCell(t *testing.T, text []byte) {
	t.Helper()
	var want, got Cell
	wrong, err := json.Unmarshal(text, &want), decodeBy(newReader().options, text, &got)
	if (err == nil) != (wrong == nil) {
		t.Errorf("%s: %v, want %v", text, err, wrong)
	} else if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Run{})); err == nil && diff != "" {
		t.Errorf("%s: %s", text, diff)
	}
}

// Results are read as they were written.
func TestResultsRoundTrip(t *testing.T) {
	s := newSet(t)
	for _, r := range []*Results{
		{Version: Version, Plan: "empty", Cells: []Cell{}, Verdicts: []Judgement{}},
		{Version: Version, Plan: "\n \"cells\": []", About: "\n \"verdicts\": []", ExitWhy: "why", Targets: []Target{{Name: "a"}},
			Cells:    []Cell{{Coord: Coord{Stage: "a"}, Runs: []string{"1"}, Metrics: CellWindowsOf(map[string]map[string]Value{"": {"x": {Value: 1, Runs: []float64{1, 2}}}})}, {Coord: Coord{Stage: "b"}}, {}},
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

// Lists of names are shared only where they are the same ones, whatever the names hold.
func TestSharedNames(t *testing.T) {
	var ws Windows
	options := newReader().options
	if err := decodeBy(options, []byte(`{"x": {"a": 1, "b": 2}, "y": {"a\nb": 3}, "z": {"a": 4, "b": 5}, "none": null}`), &ws); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]float64{"x": {"a": 1, "b": 2}, "y": {"a\nb": 3}, "z": {"a": 4, "b": 5}, "none": nil}
	for name, m := range want {
		if diff := cmp.Diff(m, ws[name].Map()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, ok := ws["y"].Get("b"); ok {
		t.Error("y has a metric that it has not")
	}
	if &ws["x"].Names()[0] != &ws["z"].Names()[0] {
		t.Error("the same names are there twice")
	}
	var w Window
	if err := decodeBy(options, []byte(`{"b": 5, "a": 4}`), &w); err != nil || w.Value("a") != 4 || w.Value("b") != 5 {
		t.Errorf("names out of order: %v, %v", w.Map(), err)
	}
}

// What the runs and cells of a set have in common is in memory once, and no longer than the set.
func TestNamesLiveWithTheirSet(t *testing.T) {
	dir := newSet(t).Dir
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := newRun()
	run.Metrics, run.Missing = WindowsOf(map[string]map[string]float64{"": {"a": 1, "b": 2}}), map[string]string{"c": "why"}
	if err := first.WriteRun(run); err != nil {
		t.Fatal(err)
	}
	if err := first.WriteResults(&Results{Cells: []Cell{{Metrics: CellWindowsOf(map[string]map[string]Value{"": {"a": {}, "b": {}}})}}}); err != nil {
		t.Fatal(err)
	}
	names := func(s *Set) []string {
		r, err := s.Run(run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Metrics[""].Names()
	}
	res, err := first.Results()
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := names(first), names(first), res.Cells[0].Metrics[""].Names(); len(a) != 2 || &a[0] != &b[0] || &a[0] != &c[0] {
		t.Errorf("the names of a set are there more than once: %p, %p, %p", a, b, c)
	}
	kept := weak.Make(&names(first)[0])
	first, res = nil, nil
	for range 3 { // pools of decoders are emptied by the second
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("names outlive their set")
	}
}

// Results take memory for their values: what is around each is small, and names are there once.
func TestMemoryOfResults(t *testing.T) {
	const cells, metrics, runs = 40, 500, 10
	res := &Results{Version: Version}
	for range cells {
		m := map[string]Value{}
		for i := range metrics {
			m[fmt.Sprintf("a_metric_with_a_name_%d", i)] = Value{Value: 1, Runs: make([]float64, runs)}
		}
		res.Cells = append(res.Cells, Cell{Metrics: CellWindows{"": CellWindowOf(m)}})
	}
	s := newSet(t)
	if err := s.WriteResults(res); err != nil {
		t.Fatal(err)
	}
	res = nil
	before := inUse()
	res, err := s.Results()
	if err != nil {
		t.Fatal(err)
	}
	took := inUse() - before
	const most = cells * metrics * (runs*8 + 80)
	if t.Logf("%d bytes a value of %d runs", took/(cells*metrics), runs); took > most {
		t.Errorf("results take %d bytes, and may take %d", took, most)
	}
	runtime.KeepAlive(res)
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
