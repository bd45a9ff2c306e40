package export

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	reader "github.com/joshdk/go-junit"

	"github.com/planrun/planrun/engine/record"
)

// A readReport is a report as another reader has it. Counts are of tests, failures, errors, skipped.
type readReport struct {
	Name   string
	Counts [4]int
	Suites []struct {
		Name, Timestamp, Hostname string
		Time                      float64
		Counts                    [4]int
		Properties                map[string]string
		Tests                     []readTest
	}
}

type readTest struct {
	Name, Class, Result, Message, Text string
	Time                               float64
}

func exportJUnit(t *testing.T, set *record.Set, res *record.Results) (b bytes.Buffer) {
	t.Helper()
	if err := JUnit(&b, set, res); err != nil {
		t.Fatal(err)
	}
	return b
}

// What fails a CI job is what makes the exit code another than 0.
func TestJUnitOutcomes(t *testing.T) {
	for _, test := range []struct{ outcome, gate, want string }{
		{record.Pass, "true", "passed"}, {record.Pass, "fail-only", "passed"}, {record.Pass, "", "passed"},
		{record.Fail, "true", "failure"}, {record.Fail, "fail-only", "failure"}, {record.Fail, "", "skipped"},
		{record.Inconclusive, "true", "error"}, {record.Inconclusive, "fail-only", "skipped"}, {record.Inconclusive, "", "skipped"},
		{record.Error, "true", "error"}, {record.Error, "fail-only", "error"}, {record.Error, "", "skipped"},
		{record.NotSupported, "true", "skipped"}, {record.NotSupported, "", "skipped"},
		{record.NotJudged, "true", "skipped"}, {record.NotJudged, "", "skipped"},
	} {
		c := testOf("plan", record.Judgement{Verdict: "v", Outcome: test.outcome, Gate: test.gate, Reason: "a reason", Expression: "a < b"})
		got, message := "passed", ""
		switch {
		case c.Failure != nil:
			got, message = "failure", c.Failure.Message
		case c.Error != nil:
			got, message = "error", c.Error.Message
		case c.Skipped != nil:
			got, message = "skipped", c.Skipped.Message
		}
		if got != test.want || got != "passed" && !strings.Contains(message, test.outcome+": a < b; a reason") {
			t.Errorf("%s with gate %q is %s (%s), want %s", test.outcome, test.gate, got, message, test.want)
		}
	}
}

// The plan's own test is red if the exit code is another than 0 and no other test says why.
func TestJUnitExitCode(t *testing.T) {
	for _, test := range []struct {
		exit     int
		red, bad bool
	}{{0, false, false}, {1, true, false}, {3, true, false}, {3, false, true}, {4, true, true}, {5, false, true}, {130, false, true}} {
		c := planTest(&record.Results{Plan: "p", Exit: test.exit, ExitWhy: "why", Undone: []string{"that"}}, test.red)
		text := ""
		switch {
		case c.Error != nil:
			text = c.Error.Message + c.Error.Data
		case c.SystemOut != nil:
			text = c.SystemOut.Data
		}
		if (c.Error != nil) != test.bad || !strings.Contains(text, "why") || !strings.Contains(text, "some runs are missing") || !strings.Contains(text, "not undone: that") {
			t.Errorf("exit %d, red %v: %+v %q", test.exit, test.red, c, text)
		}
	}
}

// Python's XML parser reads every judgement, with all that it rests on.
func TestJUnitIsReadByPython(t *testing.T) {
	set, res := fixture(t)
	out := exportJUnit(t, set, res)
	var got readReport
	readBack(t, "junit", out.Bytes(), &got)
	var sum [4]int
	tests := map[string]readTest{} // VERDICT NAME
	for _, s := range got.Suites {
		var counts [4]int
		for _, c := range s.Tests {
			counts[0]++
			if i := slices.Index([]string{"failure", "error", "skipped"}, c.Result); i >= 0 {
				counts[i+1]++
			}
			if c.Name == "" || c.Class == "" || strings.Count(c.Class, ".") > 1 {
				t.Errorf("a test has the class %q and the name %q", c.Class, c.Name)
			}
			if _, twice := tests[s.Name+" "+c.Name]; twice {
				t.Errorf("two tests have one name: %s / %s", s.Name, c.Name)
			}
			tests[s.Name+" "+c.Name] = c
		}
		if s.Counts != counts {
			t.Errorf("suite %q says that it has %v, and has %v", s.Name, s.Counts, counts)
		}
		for i, n := range counts {
			sum[i] += n
		}
		if s.Hostname != "bench-1" || s.Timestamp != "2026-11-30T06:56:00Z" || s.Properties["planrun"] != "v0.1.0" || s.Properties["kernel"] != "6.1.0 #1" || s.Properties["version of nginx"] != plain("nginx/1.22.1\nbuilt with "+hostile) || s.Properties["version of "+plain(hostile)] != "no program" {
			t.Errorf("suite %q does not say where it ran: %+v", s.Name, s)
		}
	}
	sum[3] = 0 // schemas know no number of skipped tests there
	if got.Counts != sum || sum[0] != len(res.Verdicts)+1 || got.Name != "synthetic v1.2" {
		t.Errorf("it has %v tests of %d judgements, and says %v", sum, len(res.Verdicts), got.Counts)
	}
	for _, j := range res.Verdicts {
		c, ok := tests[plain(j.Verdict)+" "+place(j.Coord)]
		if !ok {
			t.Errorf("no test is %q %v", j.Verdict, j.Coord)
			continue
		}
		want := []string{j.Outcome, plain(j.Expression), plain(j.Reason), "runs: "}
		for _, o := range j.Operands {
			want = append(want, oneLine(o.Text)+" = "+oneLine(o.Value))
		}
		for _, w := range want {
			if !strings.Contains(c.Text, w) {
				t.Errorf("%q does not say %q: %q", c.Name, w, c.Text)
			}
		}
	}
	if c := tests[plain(hostile)+" "+place(res.Verdicts[18].Coord)]; c.Time != 7.5 || c.Result != "failure" { // three runs of 2.5 s
		t.Errorf("%+v", c)
	}
	if c := tests["twice the plan (2)"]; c.Result != "passed" || c.Time != 25.5 { // all runs
		t.Errorf("%+v", c)
	}
}

// A library that was written to read JUnit files sees the same.
func TestJUnitIsReadByGoJUnit(t *testing.T) {
	set, res := fixture(t)
	out := exportJUnit(t, set, res)
	suites, err := reader.Ingest(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var total reader.Totals
	for _, s := range suites {
		total.Tests, total.Passed, total.Failed, total.Error, total.Skipped = total.Tests+s.Totals.Tests, total.Passed+s.Totals.Passed, total.Failed+s.Totals.Failed, total.Error+s.Totals.Error, total.Skipped+s.Totals.Skipped
	}
	if want := (reader.Totals{Tests: 22, Passed: 6, Failed: 3, Error: 3, Skipped: 10}); total != want {
		t.Errorf("it reads %+v, want %+v", total, want)
	}
}

// A set in which nothing was judged still has a test: CI systems take a report without one for an error.
func TestJUnitOfNothing(t *testing.T) {
	set := newSet(t)
	res := newResults(nil)
	out := exportJUnit(t, set, res)
	suites, err := reader.Ingest(out.Bytes())
	if err != nil || len(suites) != 1 || suites[0].Totals.Passed != 1 {
		t.Errorf("%+v, %v", suites, err)
	}
}
