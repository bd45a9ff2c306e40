package report

import (
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// late makes a cell with a quiet phase and churn, in which most of what was due was sent after it, in each of two runs.
func late() *fixture {
	f := newFixture()
	phases := []record.Phase{{Name: "before", Kind: "measure", End: 2, Recorded: true, Headline: true}, {Name: "storm", Kind: "churn", Start: 2, End: 6, Recorded: true}}
	c := f.cell(cellSpec{scenario: "s", target: "a", open: true, rates: []float64{1000, 1000}, phases: phases})
	sent := []int64{700, 500}
	for i, r := range f.in.Runs {
		r.Loads[0].Ready.Verified = 1
		r.Loads[0].Totals = map[string]load.Counts{
			"before":                {Due: 2000, OK: 2000, Sent: 2000},
			"storm":                 {Due: 1500, OK: 1490, Sent: sent[i], Non2xx: map[int]int64{502: 8}, Errors: map[string]int64{load.Connect: 2}, ReuseRetried: 4},
			record.Between("storm"): {Due: 40, OK: 40, Sent: 1542 - sent[i]},
		}
		r.Processes = append(r.Processes, record.Process{Name: "web", Role: "backends"})
		r.Facts.Servers = map[string]map[string]float64{"web/0": {"requests": 3540}}
	}
	values := func(m map[string]float64) *record.CellWindow {
		out := map[string]record.Value{}
		for name, v := range m {
			out[name] = record.Value{Value: v, Runs: []float64{v / 2, v / 2}}
		}
		return record.CellWindowOf(out)
	}
	f.in.Waited = func(id string) ([]record.WaitedSecond, error) {
		r := f.in.Runs[0]
		if id != r.ID {
			r = f.in.Runs[1]
		}
		n := r.Loads[0].Totals["storm"]
		return []record.WaitedSecond{{Load: "small", T: 2, Phase: "storm", Waited: n.Due - 2 - n.Sent, Longest: 1500 * time.Millisecond, Sent: n.Sent}}, nil
	}
	for _, r := range f.in.Runs {
		r.Metrics[""].Set("lag_max_ms", 1500)
	}
	c.Metrics["phase/before"] = values(map[string]float64{"p99_ms": 2, "req_per_s": 1000, "failed": 0, "sent": 4000, "requests": 4000, "generator": 0, "errors_connect": 0, "errors_tls": 0})
	c.Metrics["phase/storm"] = values(map[string]float64{"p99_ms": 8, "req_per_s": 1000, "failed": 20, "sent": 1200, "requests": 3000, "generator": 0, "errors_connect": 4, "errors_tls": 0})
	return f
}

// A quantity has one value wherever it is named: what was due and sent in a phase of all runs, and of one.
func TestCountsSayWhatTheyCount(t *testing.T) {
	f := late()
	says(t, f,
		"20 requests failed of 7,000 due in recorded phases of 2 runs (0.286 %), in 1 of 1 cell.",
		"s / a: 20 of 7,000 due (16 answered 502, 4 connect), in 2 of 2 runs",
		"Requests waited for a free connection in s / a (16 connections): 1,796 of 7,000 due (25.7 %), for longer than 50 ms or without being sent at all, in 2 of 2 runs, most in repeat 2; the longest wait there, at least 1,500 ms, was of those due from 2.0 s to 3.0 s.",
		"beside phase before: requests waited for a connection, all runs together: of a 1,796 of 3,000 (59.9 %, the longest at least 1,500 ms in repeat 2; 0 in quiet; p99_ms has the waits in it); the p99_ms of a went",
		"failed in it, all runs together: 20 of a (0 in quiet); fewer requests were sent in it than were due in it, all runs together: of a 1,200 of 3,000 (",
		"80 more requests were due after a phase had ended and before the load stopped, and count in no metric (none of them failed).")
	var b strings.Builder
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	plain := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"| run | load | phase | due in it | sent in it | failed of those due | by code and class | failed ones took up to (ms) | never sent: the generator's own lack |",
		"| s / a, repeat 1 | small | storm | 1,500 | 700 | 10 | 8 answered 502, 2 connect | - | 0 |",
		"| s / a, repeat 2 | small | storm | 1,500 | 500 | 10 | 8 answered 502, 2 connect | - | 0 |",
		"| of | phase | kind | due in it | failed of those due | share | by code and class |",
		"| s / a | storm | churn | 3,000 | 20 | 0.667 % | 16 answered 502, 4 connect |",
		"| cell | runs | due, counted | due, not counted | to verify | sent again | never sent | sent by the loads | received by the backends | so |",
		"| s / a | 2 | 7,000 | 80 | 2 | 8 | 4 | 7,086 | 7,080 | -6 at the backends:",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the report does not say %q:\n%s", want, b.String())
		}
	}
}

// What a run had sent and not yet recorded the outcome of when it ended is told apart from what was never sent.
func TestSentWithoutAnOutcome(t *testing.T) {
	f := late()
	r := f.in.Runs[0]
	n := r.Loads[0].Totals["storm"]
	n.Sent += 30
	r.Loads[0].Totals["storm"] = n
	t1 := newBuilder(f.in, Options{}).bothSides()[1].(Table)
	var head, cells []string
	for i, c := range t1.Columns {
		head, cells = append(head, c.Title), append(cells, terminal(t1.Rows[0][i]))
	}
	got := strings.Join(head, " | ") + "\n" + strings.Join(cells, " | ")
	if want := "sent again | never sent | not yet over at the end | sent by the loads"; !strings.Contains(got, want) || !strings.Contains(got, "| 8 | 2 | 28 | 7,116 |") {
		t.Errorf("says %s", got)
	}
}

// What one load never sent is not offset by what another had not recorded the outcome of, nor by another run, and the row adds up.
func TestNeverSentIsOffsetByNothing(t *testing.T) {
	counts := func(due, sent int64) record.Load {
		return record.Load{Totals: map[string]load.Counts{"measure": {Due: due, Sent: sent}}}
	}
	var s bothSide
	s.add(&record.Run{Loads: []record.Load{counts(100, 95), counts(10, 11)}}, 106)
	s.add(&record.Run{Loads: []record.Load{counts(50, 52)}}, 52)
	if s.unsent != 5 || s.open != 3 {
		t.Errorf("never sent %d, not yet over %d, want 5 and 3", s.unsent, s.open)
	}
	if made := s.due + s.outside + s.verified + s.again + s.open - s.unsent; made != s.sent || s.so() != "equal" {
		t.Errorf("%d is made up, %d were sent, %s", made, s.sent, s.so())
	}
}

// What the load generator could not send is in the findings and in the table by the same count.
func TestWhatTheGeneratorCouldNotSend(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "a", rates: []float64{1000}, failed: load.Counts{Generator: 7}})
	says(t, f, "7 requests could not be sent by the load generator itself (descriptors, ports, memory or CPU)")
	for _, block := range newBuilder(f.in, Options{}).howMany() {
		if table, ok := block.(Table); ok {
			if got := terminal(table.Rows[0][len(table.Columns)-1]); got != "7" {
				t.Errorf("the table says %s", got)
			}
		}
	}
}

// Where a load is not in the headline, failures count it and the metrics of the headline do not: the sentences say so.
func TestCountsOfLoadsBesideTheHeadline(t *testing.T) {
	f := late()
	for _, r := range f.in.Runs {
		side := r.Loads[0]
		side.Name, side.Headline, side.Spec.Rate = "side", false, nil
		side.Totals = map[string]load.Counts{"storm": {Due: 100, OK: 99, Sent: 100, Errors: map[string]int64{load.Reset: 1}}}
		r.Loads = append(r.Loads, side)
	}
	says(t, f,
		"22 requests failed of 7,200 due in recorded phases of 2 runs, by all loads, those that are not in the headline too (0.306 %), in 1 of 1 cell.",
		"(16 connections): 1,796 of 7,000 due (25.7 %), for longer than 50 ms",
		"failed in it, all runs together, by the loads of the headline: 20 of a (0 in quiet); fewer requests were sent in it than were due in it, all runs together, by the loads of the headline: of a 1,200 of 3,000 (")
}
