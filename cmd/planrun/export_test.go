package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// figuresOf are the rows of a CSV, without the value, and the value.
func figuresOf(t *testing.T, content []byte) map[string]float64 {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, r := range rows[min(1, len(rows)):] {
		if len(r) != 5 {
			t.Fatalf("a row has %d columns: %q", len(r), r)
		}
		if out[strings.Join(r[:4], ",")], err = strconv.ParseFloat(r[4], 64); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// What was imported is exported as it was published, and the export is imported again with the same results.
func TestExportsWhatItImported(t *testing.T) {
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &out); code != exitOK {
			t.Fatalf("planrun %s: exit %d\n%s", strings.Join(args, " "), code, &out)
		}
	}
	results := func(name string) *record.Results {
		t.Helper()
		set, err := record.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Results()
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	const published, plan = "../../plans/published/ingress-round2.csv", "../../plans/published/ingress-round2.yaml"
	exported := filepath.Join(dir, "figures.csv")
	do("import", published, "--plan", plan, "--out", filepath.Join(dir, "once"), "--gate", "none")
	do("export", filepath.Join(dir, "once"), "--format", "csv", "--figures", "--out", exported)
	do("import", exported, "--plan", plan, "--out", filepath.Join(dir, "again"), "--gate", "none")

	before, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(exported)
	if err != nil {
		t.Fatal(err)
	}
	want, got := figuresOf(t, before), figuresOf(t, after)
	for key, v := range want {
		if g, ok := got[key]; !ok || g != v {
			t.Errorf("%s was published as %v and exported as %v (%v)", key, v, g, ok)
		}
	}
	if len(want) < 400 {
		t.Errorf("only %d figures were published", len(want))
	}
	once, again := results("once"), results("again")
	if len(once.Cells) != len(again.Cells) || len(once.Cells) == 0 {
		t.Fatalf("%d cells became %d", len(once.Cells), len(again.Cells))
	}
	for i, c := range once.Cells {
		for name, v := range c.Metrics[""].All() {
			if w := again.Cells[i].Metrics[""].Value(name); w.Value != v.Value {
				t.Errorf("%v: %s was %v, and is %v", c.Coord, name, v.Value, w.Value)
			}
		}
	}
}
