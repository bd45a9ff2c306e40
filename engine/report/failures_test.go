package report

import (
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
		r := &record.Run{Loads: []record.Load{l}, Metrics: map[string]map[string]float64{}}
		if c.max > 0 {
			r.Metrics["phase/measure/load/small"] = map[string]float64{"max_ms": c.max}
		}
		if got := failedTook(r, l, "measure"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
