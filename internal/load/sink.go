package load

// The loop hears from its engine. Before time zero there are no seconds yet: connections that were opened then are booked
// in the first one. The verification is nobody's request.

func (l *loop) sent(r *request, bytes int) {
	if r.in != nil {
		l.ledger.sent(r, bytes)
	}
}

func (l *loop) received(at int64, bytes int) {
	if l.started {
		l.ledger.at(at).report.Counts.BytesIn += int64(bytes)
	}
}

func (l *loop) retried(at int64) {
	if l.started {
		l.ledger.at(at).report.Counts.ReuseRetried++
	}
}

func (l *loop) finished(r *request, o outcome) {
	if r.in == nil {
		l.verified(o)
		return
	}
	l.ledger.finish(r, o)
}

func (l *loop) opened(_ int64, o outcome) {
	if l.onOpened != nil {
		l.onOpened(o)
	}
}

func (l *loop) connected(at, took int64) {
	s := l.second(at)
	s.Counts.Opened++
	record(&s.Connect, took)
}

func (l *loop) secured(at, took int64, resumed bool) {
	s := l.second(at)
	s.Counts.Handshakes++
	if resumed {
		s.Counts.Resumed++
	}
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
