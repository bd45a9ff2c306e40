package diff_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
)

// open writes a set and opens it.
func open(t *testing.T, name string, s recordtest.Set) *diff.Set {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := recordtest.Write(dir, s); err != nil {
		t.Fatal(err)
	}
	return openAt(t, dir, "")
}

func openAt(t *testing.T, dir, target string) *diff.Set {
	t.Helper()
	set, err := diff.Open(dir, diff.Options{Name: filepath.Base(dir), Target: target, Tree: dsl.Tree})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func compareSets(t *testing.T, a, b *diff.Set, opt diff.CompareOptions) *diff.Diff {
	t.Helper()
	d, err := diff.Compare(a, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// one is a set of one cell, nginx in h1, at a rate of about v.
func one(v float64) recordtest.Set { return recordtest.Set{Cells: []recordtest.Cell{nginx(v)}} }

func nginx(v float64) recordtest.Cell {
	return recordtest.Cell{Stage: "main", Scenario: "h1", Target: "nginx", Metrics: map[string][]float64{"req_per_s": around(v), "p99_ms": around(1000 / v), "requests": around(5 * v)}}
}

func around(v float64) []float64 { return []float64{v, 1.01 * v, 0.99 * v} }

func size(v string) []record.Axis { return []record.Axis{{Name: "size", Value: v}} }

// words are those of all differences.
func words(d *diff.Diff) string {
	var out []string
	for _, x := range d.Differences {
		out = append(out, string(x.Group)+": "+x.Words)
	}
	return strings.Join(out, "\n")
}
