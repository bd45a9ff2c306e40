package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// Each phase says what failed in it, also if nothing did, and each run how long it took to come back, or why nobody knows.
func TestRecoveryAndFailuresOfPhases(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000), open: true, phases: shakenPhases})
	for i, r := range f.in.Runs {
		r.Loads[0].Totals = map[string]load.Counts{
			"before": {Due: 100, OK: 100}, "less": {Due: 100, OK: 90, Non2xx: map[int]int64{502: 8}, Errors: map[string]int64{load.Reset: 2}},
		}
		switch i {
		case 0:
			for name, v := range map[string]float64{"recovery_s": 1.25, "recovery_rate_s": 0.25, "recovery_p99_s": 1.25, "not_recovered": 0} {
				r.Metrics[""].Set(name, v)
			}
		case 1:
			r.Recovery = &record.Recovery{Rate: 0.95, P99: 1.5, HoldS: 2}
			r.Metrics[""].Set("not_recovered", 1)
			r.Metrics[""].Set("recovery_rate_s", 0.25)
			r.Missing = map[string]string{"recovery_s": "it is slow still", "recovery_p99_s": "it is slow still"}
		case 2:
			r.Missing = map[string]string{"recovery_s": "nobody looked", "recovery_rate_s": "nobody looked", "recovery_p99_s": "nobody looked"}
		}
	}
	var b bytes.Buffer
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"| s / a | before | load | 300 | 0 | 0 % | - |",
		"| s / a | less | churn | 300 | 30 | 10.0 % | 24 answered 502, 6 reset |",
		"| s / a | after | measure | 0 | 0 | no request was due | - |",
		"| s / a, repeat 1 | 1.25 | 0.250 | 1.25 | rate at least 90 %, p99 at most 200 % or 5 ms more, for 3 s |",
		"| s / a, repeat 2 | not back[^5] | 0.250 | n/a[^5] | rate at least 95 %, p99 at most 150 %, for 2 s |",
		"| s / a, repeat 3 | n/a[^6] | n/a[^6] | n/a[^6] | rate at least 90 %",
		"[^5]: it is slow still", "[^6]: nobody looked",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if t.Failed() {
		for _, l := range lines {
			if strings.Contains(l, "| s / a") || strings.HasPrefix(l, "[^") {
				t.Log(l)
			}
		}
	}
}
