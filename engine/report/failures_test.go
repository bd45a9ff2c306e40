package report

import (
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

func TestHowLongFailedRequestsTook(t *testing.T) {
	failed := map[string]int64{load.Reset: 2}
	for _, c := range []struct {
		name   string
		counts load.Counts
		max    float64 // of successes, in ms; 0 is not known
		want   string
	}{
		{"longer than any success", load.Counts{Due: 9, OK: 7, Errors: failed, MaxElapsed: 3077 * time.Millisecond}, 30, "3,077"},
		{"a success took as long", load.Counts{Due: 9, OK: 7, Errors: failed, MaxElapsed: 3077 * time.Millisecond}, 3076.5, "at most 3,077"},
		{"of successes nothing is known", load.Counts{Due: 9, OK: 7, Errors: failed, MaxElapsed: time.Second}, 0, "at most 1,000"},
		{"none succeeded", load.Counts{Due: 2, Errors: failed, MaxElapsed: time.Second}, 0, "1,000"},
		{"none failed", load.Counts{Due: 9, OK: 9, MaxElapsed: time.Second}, 30, "-"},
	} {
		l := record.Load{Name: "small", Totals: map[string]load.Counts{"measure": c.counts}}
		r := &record.Run{Loads: []record.Load{l}, Metrics: record.Windows{}}
		if c.max > 0 {
			r.Metrics["phase/measure/load/small"] = record.WindowOf(map[string]float64{"max_ms": c.max})
		}
		if got := failedTook(r, l, "measure"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Each second in which requests failed says how, and beside what; what is no cause does not hide that there is none.
func TestFailuresBySecond(t *testing.T) {
	f, r := failing()
	f.data[r.ID].Events = []record.Event{
		{T: 3.1, Kind: "reload", Message: "the target was told of it", Fields: map[string]any{"start": 3.0}},
		{T: 20, Kind: "replica", Message: "web/4 is ready", Fields: map[string]any{"process": "web", "replica": 4.0, "state": "ready"}},
	}
	f.in.Failed = func(string) (out []record.FailedSecond, err error) {
		for i := range mostFailingSeconds {
			out = append(out, record.FailedSecond{T: float64(i) + 5.4, Over: float64(i) + 6.4, Phase: "less", Unexplained: 5, Counts: load.Counts{Errors: map[string]int64{load.Reset: 5}}})
		}
		out[0] = record.FailedSecond{T: 3.4, Over: 4.4, Phase: "less", Counts: load.Counts{Non2xx: map[int]int64{502: 7}, Errors: map[string]int64{load.Reset: 2}}}
		return append(out, record.FailedSecond{T: 19.4, Over: 20.4, Phase: "less", Unexplained: 8, Counts: load.Counts{Errors: map[string]int64{load.Timeout: 8}}}), nil
	}
	d, err := Build(f.in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := WriteMarkdown(&b, d); err != nil {
		t.Fatal(err)
	}
	plain := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"| 3.4 to 4.4 s | less | 9 | 7 answered 502, 2 reset | reload: the target was told of it (at 3.0 s) |",
		"| 19.4 to 20.4 s | less | 8 | 8 timeout | nothing that explains it<br>web/4 ready (at 20.0 s) |",
		"Left out: 1 second in which fewer failed.",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the report does not say %q:\n%s", want, b.String())
		}
	}
}
