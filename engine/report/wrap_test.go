package report

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/planrun/planrun/engine/record"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"one two three four", 0, "one two three four"},
		{"one two three four", 18, "one two three four"},
		{"one two three four", 17, "one two three\n  four"},
		{"one two three four", 7, "one two\n  three\n  four"},
		{"a results/with-a-long-name b", 10, "a\n  results/with-a-long-name\n  b"},
		{"接続 接続 接続", 10, "接続 接続\n  接続"},
		{"", 10, ""},
	} {
		if got := Wrap(c.line, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.columns, got, c.want)
		}
	}
}

// Why a verdict is inconclusive stands in the summary to its end, on a narrow terminal too.
func TestSummaryWraps(t *testing.T) {
	const lag = "the load generator was the bottleneck: its own delay in sending load small reached 71.65 ms, and was above 20ms in 2 of 2 seconds (at most half); 1 % of the requests were sent more than 57.38 ms late, waiting for a connection included"
	in := Input{Results: &record.Results{Verdicts: []record.Judgement{{Verdict: "fast", Outcome: record.Inconclusive, Gate: "plan", Reason: "guard send-lag: " + lag}}}}
	for _, columns := range []int{80, 120, 0} {
		var b strings.Builder
		if err := Summary(&b, in, Options{Width: columns}); err != nil {
			t.Fatal(err)
		}
		findings, _, _ := strings.Cut(b.String(), "\n\n")
		if !strings.Contains(strings.ReplaceAll(findings, "\n  ", " "), lag+".") {
			t.Errorf("%d columns: the reason is not whole:\n%s", columns, findings)
		}
		for line := range strings.Lines(findings) {
			if w := runewidth.StringWidth(strings.TrimRight(line, "\n")); columns > 0 && w > columns {
				t.Errorf("a line of %d columns for %d: %s", w, columns, line)
			}
		}
	}
}
