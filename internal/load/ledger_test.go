package load

import (
	"testing"
	"time"
)

func newTestLedger() *ledger {
	j := &job{Spec: Spec{Name: "main", Worker: 1, Phase: "warm-up"}}
	l := newLoop(j).ledger
	l.begins(5*int64(time.Second), Second{Counts: Counts{Opened: 3}})
	return l
}

// due begins a request.
func due(l *ledger, at int64) *request {
	r := &request{}
	l.begin(r, at)
	return r
}

func at(seconds float64) int64 { return 5*int64(time.Second) + int64(seconds*1e9) }

// TestLedger: a second is reported once all its requests are over, by phase of the due time.
func TestLedger(t *testing.T) {
	l := newTestLedger()
	l.switchPhase(at(1.5), "measure")
	a := due(l, at(0.5))
	b := due(l, at(1.4))
	c := due(l, at(1.5))
	if a.in.report.Phase != "warm-up" || b.in.report.Phase != "warm-up" || c.in.report.Phase != "measure" || b.in == c.in {
		t.Errorf("phases %q, %q, %q", a.in.report.Phase, b.in.report.Phase, c.in.report.Phase)
	}
	for _, r := range []*request{a, b, c} {
		r.sent = r.due + 10
		l.sent(r, r.sent, 100)
	}
	l.finish(a, outcome{at: at(0.6), status: 200})
	l.finish(c, outcome{at: at(3.6), status: 200})
	l.roll(at(0.9), false)
	if got, _ := l.take(); len(got) != 0 {
		t.Errorf("reported before the second is over: %+v", got)
	}
	l.roll(at(2), false)
	got, _ := l.take()
	if len(got) != 2 || got[0].Second != 0 || got[0].Counts.OK != 1 || got[0].Counts.Opened != 3 || got[1].Phase != "measure" || got[1].Counts.SlowOver1s != 1 {
		t.Fatalf("reported: %+v", got)
	}
	if got[1].Load != "main" || got[1].Worker != 1 || got[1].Counts.MaxElapsed != 2100*time.Millisecond {
		t.Errorf("reported: %+v", got[1])
	}
	l.finish(b, outcome{at: at(4), class: Timeout, reason: "late"})
	l.roll(at(4), false)
	got, examples := l.take()
	if len(got) != 1 || got[0].Second != 1 || got[0].Phase != "warm-up" || got[0].Counts.Errors[Timeout] != 1 || len(examples) != 1 || examples[0] != "timeout: late" {
		t.Errorf("reported: %+v, %q", got, examples)
	}
	if *l.due["warm-up"] != 2 || *l.due["measure"] != 1 {
		t.Errorf("due: %v", l.due)
	}
}

// TestLedgerEarlyEnd: a phase that ends before its time takes the end with it that was announced.
func TestLedgerEarlyEnd(t *testing.T) {
	l := newTestLedger()
	l.switchPhase(at(10), "fault") // when the warm-up was to end
	l.switchPhase(at(2), "fault")  // its until held
	l.switchPhase(at(4), "after")
	for from, phase := range map[float64]string{1: "warm-up", 2: "fault", 3.9: "fault", 4: "after", 11: "after"} {
		if r := due(l, at(from)); r.in.report.Phase != phase {
			t.Errorf("due at %gs: %q, want %q", from, r.in.report.Phase, phase)
		}
	}
}

// TestLedgerParts: a second with a request that stays open is reported in parts, each of which reconciles, and keeps no
// histogram meanwhile.
func TestLedgerParts(t *testing.T) {
	l := newTestLedger()
	open := due(l, at(0))
	for range 3 {
		r := due(l, at(0.1))
		r.sent = at(0.1)
		l.sent(r, r.sent, 1)
		l.finish(r, outcome{at: at(0.2), status: 200})
	}
	l.roll(at(partAfter+2), false)
	got, _ := l.take()
	if len(got) != 1 || got[0].Counts.Due != 3 || got[0].Counts.OK != 3 || open.in.report.Latency != nil {
		t.Errorf("first part: %+v", got)
	}
	l.roll(at(partAfter+3), false)
	if got, _ := l.take(); len(got) != 0 {
		t.Errorf("nothing happened, and reported was %+v", got)
	}
	l.finish(open, outcome{at: at(20), status: 503})
	l.roll(at(21), true)
	got, _ = l.take()
	if len(got) != 1 || got[0].Second != 0 || got[0].Counts.Due != 1 || got[0].Counts.Non2xx[503] != 1 {
		t.Errorf("second part: %+v", got)
	}
}

// TestMemory: the books do not grow with the number of requests.
func TestMemory(t *testing.T) {
	l := newTestLedger()
	second := func(s int) {
		for i := range 1000 {
			when := at(float64(s) + float64(i)/1000)
			r := due(l, when)
			r.sent = when
			l.sent(r, r.sent, 1)
			l.finish(r, outcome{at: when + 1000, status: 200})
		}
		l.roll(at(float64(s+1)), false)
		l.take()
	}
	for s := range 50 {
		second(s)
		if len(l.open) > 1 {
			t.Fatalf("after %d seconds %d are open", s+1, len(l.open))
		}
	}
	when := at(50)
	r := &request{}
	if n := testing.AllocsPerRun(1000, func() {
		l.begin(r, when)
		r.sent = when
		l.sent(r, r.sent, 1)
		l.finish(r, outcome{at: when + 1000, status: 200})
	}); n > 0.1 {
		t.Errorf("%v allocations a request", n)
	}
}
