package load

import "crypto/tls"

// A sink hears what became of the requests and connections of a pool.
type sink interface {
	sent(r *request, at int64, bytes int)
	received(at int64, bytes int)
	retried(at int64)        // a request is sent again because its connection ended
	goneAway(at int64)       // a server said GOAWAY
	retriedAway(at int64)    // a request is sent again because a GOAWAY left it out
	retriedRefusal(at int64) // a request is sent again because its stream was refused
	finished(r *request, o outcome)
	freed()                                                         // a connection may have become free
	opened(o outcome)                                               // the end of a dial without a request; an outcome with a class is a failure
	connected(at, took int64)                                       // of every connection
	secured(at, took int64, s *tls.ConnectionState, size shakeSize) // of every TLS handshake
	noted(text string)                                              // something to tell that is no request's outcome
}

// The loop hears from its pool. Before time zero there are no seconds yet: connections that were opened then are booked
// in the first one. The verification is nobody's request.

func (l *loop) sent(r *request, at int64, bytes int) {
	if r.in != nil {
		l.ledger.sent(r, at, bytes)
	}
}

func (l *loop) received(at int64, bytes int) {
	if l.started {
		l.ledger.at(at).report.Counts.BytesIn += int64(bytes)
	}
}

func (l *loop) retried(at int64)        { l.second(at).Counts.ReuseRetried++ }
func (l *loop) goneAway(at int64)       { l.second(at).Counts.Goaways++ }
func (l *loop) retriedAway(at int64)    { l.second(at).Counts.Retried++ }
func (l *loop) retriedRefusal(at int64) { l.second(at).Counts.Refused++ }

func (l *loop) finished(r *request, o outcome) {
	if r.in == nil {
		l.verified(r, o)
		return
	}
	l.ledger.finish(r, o)
	l.recycle(r, o)
}

func (l *loop) opened(o outcome) {
	if l.onOpened != nil {
		l.onOpened(o)
	}
}

func (l *loop) connected(at, took int64) {
	s := l.second(at)
	s.Counts.Opened++
	record(&s.Connect, took)
}

func (l *loop) secured(at, took int64, state *tls.ConnectionState, size shakeSize) {
	s := l.second(at)
	s.Counts.Handshakes++
	if state.DidResume {
		s.Counts.Resumed++
		s.Counts.ResumedIn += int64(size.in)
		s.Counts.ResumedOut += int64(size.out)
	} else {
		s.Counts.FullIn += int64(size.in)
		s.Counts.FullOut += int64(size.out)
	}
	count(&s.Counts.Sessions, sessionOf(state).String())
	record(&s.TLS, took)
}

func (l *loop) noted(text string) { l.ledger.example(text) }

func (l *loop) second(at int64) *Second {
	if !l.started {
		return &l.early
	}
	return &l.ledger.at(at).report
}

// begins sets time zero and books what happened before it.
func (l *ledger) begins(now int64, early Second) {
	l.start = now
	for i := range l.marks {
		l.marks[i].at += now
	}
	l.latest = nil
	s := &l.at(now).report
	s.Counts, s.Connect, s.TLS = early.Counts, early.Connect, early.TLS
}
