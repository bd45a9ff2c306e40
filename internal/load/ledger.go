package load

import (
	"sync"
	"time"

	"github.com/planrun/planrun/internal/hdr"
)

// A bucket collects what belongs to one second and one phase.
type bucket struct {
	from, to int64  // on the clock of the loop: the part of the second that belongs to the phase
	open     int    // requests without an outcome
	due      *int64 // of the phase: requests that became due
	by       tally
	report   Second
}

// A ledger keeps the books of one load: every request that became due has exactly one outcome, in the bucket in which it
// was due. What it holds is bounded by the time for which requests stay open, not by their number. The loop calls its
// methods; take and lastExamples may be called from elsewhere.
type ledger struct {
	spec   *job
	start  int64 // the clock at time zero
	marks  []mark
	open   []*bucket         // in the order in which they were made
	latest *bucket           // that of the last look-up
	due    map[string]*int64 // by phase: requests that became due

	mu       sync.Mutex
	done     []Second
	examples []string        // since the last take
	seen     map[string]bool // examples that were ever given
}

// A mark is where a phase begins, on the clock of the loop.
type mark struct {
	at    int64
	phase string
}

const (
	maxExamples = 16 // different ones in the life of a load
	partAfter   = 5  // seconds after which a bucket is reported in parts, to give its memory back
)

// switchPhase makes requests that are due from at on belong to phase. Switches that were to come after it are forgotten: a
// phase that ends early takes the end that it would have had with it.
func (l *ledger) switchPhase(at int64, phase string) {
	i := len(l.marks)
	for i > 0 && l.marks[i-1].at > at {
		i--
	}
	l.marks = append(l.marks[:i], mark{at, phase})
	l.latest = nil
}

// at gives the bucket of a time.
func (l *ledger) at(t int64) *bucket {
	if b := l.latest; b != nil && t >= b.from && t < b.to {
		return b
	}
	second := max(0, t-l.start) / int64(time.Second)
	from := l.start + second*int64(time.Second)
	to := from + int64(time.Second)
	phase := ""
	for _, m := range l.marks {
		if m.at <= t {
			phase, from = m.phase, max(from, m.at)
		} else {
			to = min(to, m.at)
			break
		}
	}
	for i := len(l.open) - 1; i >= 0; i-- {
		if b := l.open[i]; b.report.Second == int(second) && b.report.Phase == phase {
			b.from, b.to = from, to
			l.latest = b
			return b
		}
	}
	if l.due[phase] == nil {
		l.due[phase] = new(int64)
	}
	b := &bucket{from: from, to: to, due: l.due[phase]}
	b.report = l.blank(int(second), phase)
	l.open = append(l.open, b)
	l.latest = b
	return b
}

func (l *ledger) blank(second int, phase string) Second {
	return Second{Load: l.spec.Name, Worker: l.spec.Worker, Phase: phase, Second: second}
}

// begin books that r is due.
func (l *ledger) begin(r *request, due int64) {
	b := l.at(due)
	b.open++
	*b.due++
	r.due, r.ready, r.in = due, due, b
}

// sent books that the writing of a request began at a time.
func (l *ledger) sent(r *request, at int64, bytes int) {
	c := &l.at(at).report.Counts
	c.Sent++
	c.BytesOut += int64(bytes)
	if r.retried > 0 {
		return
	}
	s := &r.in.report
	record(&s.Lag, r.sent-r.due)
	s.Counts.StalledLagNs = max(s.Counts.StalledLagNs, r.sent-r.ready)
}

// finish books the outcome of a request.
func (l *ledger) finish(r *request, o outcome) {
	b := r.in
	b.open--
	s := &b.report
	c := &s.Counts
	c.Due++
	c.MaxElapsed = max(c.MaxElapsed, time.Duration(o.at-r.due))
	switch {
	case o.class == generatorClass:
		c.Generator++
	case o.class != "":
		addTo(&c.Errors, o.class, 1)
	case !l.spec.right(o.status):
		addTo(&c.Non2xx, o.status, 1)
	default:
		c.OK++
		record(&s.Latency, o.at-r.due)
		record(&s.Service, o.at-r.sent)
		if o.at-r.sent > int64(time.Second) {
			c.SlowOver1s++
		}
	}
	if l.spec.By != "" && o.class == "" {
		b.by.count(r.by, r.byGiven)
	}
	if o.class != "" {
		l.example(o.class + ": " + o.reason)
	}
}

func addTo[K comparable](m *map[K]int64, key K, n int64) {
	if *m == nil {
		*m = map[K]int64{}
	}
	(*m)[key] += n
}

func record(h **hdr.Histogram, ns int64) {
	if *h == nil {
		*h = &hdr.Histogram{}
	}
	(*h).Record(ns)
}

func (l *ledger) example(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[text] && len(l.seen) < maxExamples {
		l.seen[text] = true
		l.examples = append(l.examples, text)
	}
}

// roll hands on the buckets whose second is over at now and whose requests all have an outcome; those that stay open for
// long in parts. When the load is over all are handed on.
func (l *ledger) roll(now int64, over bool) {
	keep := l.open[:0]
	for _, b := range l.open {
		age := now - (l.start + int64(b.report.Second+1)*int64(time.Second))
		complete := over || b.open == 0 && age >= 0
		if complete || age > partAfter*int64(time.Second) {
			if r := b.report; r.Counts.any() {
				r.Counts.By = b.by.take()
				l.mu.Lock()
				l.done = append(l.done, r)
				l.mu.Unlock()
				b.report = l.blank(r.Second, r.Phase)
			}
		}
		if complete {
			if l.latest == b {
				l.latest = nil
			}
			continue
		}
		keep = append(keep, b)
	}
	clear(l.open[len(keep):])
	l.open = keep
}

// any tells whether something was counted.
func (c *Counts) any() bool {
	return c.Due != 0 || c.Sent != 0 || c.Opened != 0 || c.Handshakes != 0 || c.BytesIn != 0 || c.StalledLagNs != 0 ||
		c.Goaways != 0 || c.Retried != 0 || c.Refused != 0 || c.ReuseRetried != 0
}

// take gives what roll handed on since the last take.
func (l *ledger) take() (seconds []Second, examples []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seconds, examples = l.done, l.examples
	l.done, l.examples = []Second{}, nil // an empty list of the JSON is no null
	return seconds, examples
}
