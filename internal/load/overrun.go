package load

import (
	"fmt"
	"sort"
	"time"
)

// arriveFor bounds how long the loop begins requests before it looks at its connections again; those that are due beyond it
// wait.
const arriveFor = 10 * time.Millisecond

// overrun books at once all requests that are due at now and must not wait any more. One by one they could take longer than
// it takes as many to become due, and the loop would never do anything else again.
func (l *loop) overrun(now int64) {
	o := l.unsent(now, Dropped, fmt.Sprintf("%d requests wait already", l.job.waiting))
	for l.nextDue <= now {
		b := l.ledger.at(l.nextDue)
		n := l.dueBefore(min(now+1, b.to))
		l.ledger.miss(b, l.nextDue, n, o)
		l.k += n * int64(l.job.Workers)
		l.schedule()
	}
}

// dueBefore is how many requests from the next one on are due before a time; the next one is.
func (l *loop) dueBefore(end int64) int64 {
	later := func(n int) bool {
		due, ok := l.job.schedule.due(l.k + int64(n)*int64(l.job.Workers))
		return !ok || l.ledger.start+int64(due) >= end
	}
	n := 1
	for !later(n) {
		n *= 2
	}
	return int64(n/2 + sort.Search(n-n/2, func(i int) bool { return later(n/2 + i) }))
}

// miss books n requests that became due in a bucket, the first of them at a time, and were never sent.
func (l *ledger) miss(b *bucket, due, n int64, o outcome) {
	*b.due += n
	c := &b.report.Counts
	c.Due += n
	c.MaxElapsed = max(c.MaxElapsed, time.Duration(o.at-due))
	if o.class == generatorClass {
		c.Generator += n
	} else {
		addTo(&c.Errors, o.class, n)
	}
	l.example(o.class + ": " + o.reason)
}
