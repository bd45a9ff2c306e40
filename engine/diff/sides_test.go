package diff_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
	"github.com/planrun/planrun/engine/report"
)

// several is a side of sets of nginx in h1 at about these rates.
func several(t *testing.T, name string, rates ...float64) *diff.Set {
	t.Helper()
	var first *diff.Set
	for i, v := range rates {
		set := open(t, name+string(rune('1'+i)), one(v))
		if first == nil {
			first = set
		} else {
			first.More = append(first.More, set)
		}
	}
	return first
}

func rateOf(t *testing.T, d *diff.Diff) diff.Row {
	t.Helper()
	i := slices.IndexFunc(d.Rows, func(r diff.Row) bool { return r.Name.Text == "req_per_s" })
	if i < 0 {
		t.Fatalf("no row of the rate: %+v", d.Rows)
	}
	return d.Rows[i]
}

// How far the sets of a side lie apart is noise, in every form.
func TestSeveralSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []float64
		want string
		runs int
		of   float64 // the part of the floor that is of the sets; 0: none
	}{
		{[]float64{100}, []float64{95}, "worse", 3, 0},
		{[]float64{100, 94}, []float64{95}, "within noise", 6, 100. / 94},
		{[]float64{100}, []float64{95, 103}, "within noise", 3, 103. / 95},
		{[]float64{100, 100.2, 100.1}, []float64{95, 95.1, 95.2}, "worse", 9, 0},
		{[]float64{100, 110, 105}, []float64{95, 104, 99}, "within noise", 9, 0},
	} {
		d := compareSets(t, several(t, "a", c.a...), several(t, "b", c.b...), diff.CompareOptions{})
		r := rateOf(t, d)
		if string(r.Outcome()) != c.want || len(r.To.Runs) != c.runs {
			t.Errorf("%v against %v is %s with %d runs of A, want %s and %d: %+v", c.b, c.a, r.Outcome(), len(r.To.Runs), c.want, c.runs, r.Ratio)
		}
		if c.of != 0 && math.Abs(r.Ratio.Repeats-c.of) > 1e-9 {
			t.Errorf("%v against %v: the sets lie %v apart, want %v", c.b, c.a, r.Ratio.Repeats, c.of)
		}
		if known := len(c.a)+len(c.b) > 3; known != (d.Drift() == "") {
			t.Errorf("%v against %v: of the drift it says %q", c.b, c.a, d.Drift())
		}
		var text, data, lines bytes.Buffer
		if err := report.WriteText(&text, d.Document()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text.String(), "two sets of the same thing"); n != map[bool]int{true: 0, false: 1}[d.Drift() == ""] {
			t.Errorf("the text speaks %d times of the drift:\n%s", n, &text)
		}
		if err := d.WriteJSON(&data); err != nil {
			t.Fatal(err)
		}
		var j diff.JSON
		if err := json.Unmarshal(data.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		if len(j.A.Again) != len(c.a)-1 || len(j.B.Again) != len(c.b)-1 || j.Drift != d.Drift() {
			t.Errorf("%+v, drift %q", j.A, j.Drift)
		}
		if err := d.WriteCSV(&lines); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&lines).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(rows[0], "repeats")
		i := slices.IndexFunc(rows, func(r []string) bool { return slices.Contains(r, "req_per_s") })
		if at < 0 || i < 0 || (rows[i][at] == "") != (len(c.a)+len(c.b) == 2) {
			t.Errorf("the lines have no repeats of the rate:\n%v", rows)
		}
		if at := slices.Index(rows[0], "interval_low"); at < 0 || rows[i][at] == "" || rows[i][at+1] == "" {
			t.Errorf("the lines have no interval of the rate:\n%v", rows)
		}
	}
}

// The sets of a side are to be the same thing, and other ones; what one of them lacks is said.
func TestSetsOfASide(t *testing.T) {
	t.Parallel()
	a := open(t, "a1", recordtest.Set{Cells: []recordtest.Cell{nginx(100), cellOf("h2", map[string][]float64{"req_per_s": around(100)})}})
	a.More = []*diff.Set{open(t, "a2", recordtest.Set{Cells: []recordtest.Cell{nginx(100)}, Environment: func(e *record.Environment) { e.Kernel = "6.2.0" }})}
	d := compareSets(t, a, several(t, "b", 90, 91), diff.CompareOptions{})
	if got := words(d); !strings.Contains(got, "environment: among the sets of A, a1 as A and a2 as B: the kernel: 6.1.0 in A, 6.2.0 in B") {
		t.Error(got)
	}
	a = open(t, "a1", recordtest.Set{Cells: []recordtest.Cell{nginx(100), {Stage: "main", Scenario: "h1", Target: "caddy", Metrics: map[string][]float64{"req_per_s": around(1)}}}})
	a.More = []*diff.Set{open(t, "a2", one(100))}
	b := open(t, "b1", recordtest.Set{Cells: []recordtest.Cell{nginx(100), {Stage: "main", Scenario: "h1", Target: "caddy", Metrics: map[string][]float64{"req_per_s": around(1)}}}})
	if d := compareSets(t, a, b, diff.CompareOptions{}); len(d.Lacking) != 1 || d.Lacking[0] != "a2 has no results of main / h1 / caddy; its side is the other sets alone there" {
		t.Errorf("%q", d.Lacking)
	}
	longer := one(100)
	longer.Run = func(_ int, r *record.Run) { r.Phases[1].For = 2 }
	a = open(t, "a1", one(100))
	a.More = []*diff.Set{open(t, "a2", longer)}
	if d := compareSets(t, a, open(t, "b", one(100)), diff.CompareOptions{}); len(d.Mismatches) != 1 || !strings.HasPrefix(d.Mismatches[0].What, "among the sets of A, a1 as A and a2 as B: the window measure") {
		t.Errorf("%+v", d.Mismatches)
	}
	a.More = []*diff.Set{openAt(t, a.Dir, "")}
	if _, err := diff.Compare(a, open(t, "b", one(100)), diff.CompareOptions{}); err == nil || !strings.Contains(err.Error(), "are one result set") {
		t.Errorf("a set is twice on a side: %v", err)
	}
	a = several(t, "a", 100, 101)
	if d := compareSets(t, a, openAt(t, a.More[0].Dir, ""), diff.CompareOptions{}); d.Same != "a2 of A and a2 of B are the same result set" {
		t.Errorf("%q", d.Same)
	}
}
