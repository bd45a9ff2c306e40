package origin

import "sync/atomic"

// shards is over how many sets of counters the connections of a listener are spread, so that two CPUs seldom write the
// same cache line.
const shards = 16

// A shard counts for some of the connections.
type shard struct {
	opened, live      atomic.Int64
	bytesIn, bytesOut atomic.Int64
	received          [classes]atomic.Int64
	answered          [classes]atomic.Int64
	status            [600]atomic.Int64 // answers by code
	_                 [64]byte
}

// counters are those of one listener.
type counters struct {
	shard [shards]shard
	next  atomic.Uint32
}

// pick gives the shard of a new connection and counts it; the caller calls left when the connection is closed.
func (c *counters) pick() *shard {
	s := &c.shard[c.next.Add(1)%shards]
	s.opened.Add(1)
	s.live.Add(1)
	return s
}

func (s *shard) left() { s.live.Add(-1) }

func (s *shard) got(c class) { s.received[c].Add(1) }

func (s *shard) sent(c class, code int) {
	s.answered[c].Add(1)
	s.status[code].Add(1)
}

// traffic adds up the shards.
func (c *counters) traffic() Traffic {
	t := Traffic{Classes: map[string]Class{}, Status: map[int]int64{}}
	for i := range c.shard {
		s := &c.shard[i]
		t.Opened += s.opened.Load()
		t.Live += s.live.Load()
		t.BytesIn += s.bytesIn.Load()
		t.BytesOut += s.bytesOut.Load()
		for k, name := range names {
			n := t.Classes[name]
			n.Answered += s.answered[k].Load() // before received: at no time more answers than requests
			n.Received += s.received[k].Load()
			t.Classes[name] = n
		}
		for code := range s.status {
			if n := s.status[code].Load(); n > 0 {
				t.Status[code] += n
			}
		}
	}
	for name, n := range t.Classes {
		switch {
		case n == Class{}:
			delete(t.Classes, name)
		case name != names[refused]:
			t.Received += n.Received
			t.Answered += n.Answered
		}
	}
	return t
}
