package diff_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record/recordtest"
	"github.com/planrun/planrun/engine/report"
)

// hostile are names that are something else to a spreadsheet, to Markdown, or to a terminal.
const hostile = "=1+1|<b>\x1b[31m\nx"

func hostileDiff(t *testing.T) *diff.Diff {
	t.Helper()
	cell := func(rate float64) recordtest.Cell {
		c := nginx(rate)
		c.Scenario, c.Target, c.Matrix = "+"+hostile, hostile, size("@"+hostile)
		c.Metrics["failed"] = []float64{0, 0, 0}
		return c
	}
	other := cell(100)
	other.Metrics["req_per_s"] = []float64{0, 100, 90} // the range has no upper end
	return compareSets(t, open(t, "a", recordtest.Set{Cells: []recordtest.Cell{other}}), open(t, "b", recordtest.Set{Cells: []recordtest.Cell{cell(50)}}), diff.CompareOptions{})
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := hostileDiff(t).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines[1:] {
		if len(l) != len(lines[0]) {
			t.Errorf("%d fields: %q", len(l), l)
		}
		for _, f := range l {
			if f != "" && strings.ContainsRune("=+-@", rune(f[0])) {
				t.Errorf("%q is a formula", f)
			}
		}
		if l[3] != `'=1+1|<b>\u001b[31m`+"\nx" {
			t.Errorf("the target is %q", l[3])
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	d := hostileDiff(t)
	var b bytes.Buffer
	if err := d.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got diff.JSON
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Version != diff.Version || len(got.Rows) != len(d.Rows) || got.Summary != d.Summary {
		t.Errorf("%+v", got)
	}
	for _, r := range got.Rows {
		switch r.Metric {
		case "req_per_s":
			if r.High != nil || r.Ratio == nil || r.Low == nil {
				t.Errorf("an unbounded range: %+v", r)
			}
		case "failed":
			if r.Ratio != nil || r.Why != "0/0" || r.Outcome != diff.Equal {
				t.Errorf("0/0: %+v", r)
			}
		}
	}
}

func TestHostileNamesStayText(t *testing.T) {
	t.Parallel()
	doc := hostileDiff(t).Document()
	for form, write := range map[string]func(*bytes.Buffer) error{
		"md":   func(b *bytes.Buffer) error { return report.WriteMarkdown(b, doc) },
		"text": func(b *bytes.Buffer) error { return report.WriteText(b, doc) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") || form == "md" && (strings.Contains(b.String(), "<b>") && !strings.Contains(b.String(), `\<b\>`)) {
			t.Errorf("%s:\n%s", form, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "x ") {
				t.Errorf("%s: a name goes on to another line:\n%s", form, b.String())
			}
		}
	}
}
