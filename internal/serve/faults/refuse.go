package faults

// Refuse are the attributes of the toxic "refuse", which has none: the relay does not listen, and listens again at the same
// port when it is over. Connections that live go on.
type Refuse struct{}

var refuseKind = kind{"refuse", attributes[Refuse], nil}

func (Refuse) check() error          { return nil }
func (Refuse) effect(h *hold) effect { return nil }
func (Refuse) door() door            { return shut }

// listening shuts or opens the door as the faults in force say. Who is refused meanwhile is booked on the first of the
// faults that shut it, so that nobody is counted twice.
//
// Counting begins before the door is shut and ends when it is open again: a connection that comes in these moments may be
// counted and yet be served, but none is refused without being counted.
func (r *relay) listening() error {
	for _, f := range r.faults {
		if f.at() == shut {
			return r.refuse(f)
		}
	}
	err := r.open.Again()
	r.tally(0)
	if r.knocks != nil {
		r.knocks.close()
		r.knocks, r.knocked = nil, nil
	}
	return err
}

func (r *relay) refuse(f *fault) error {
	if r.knocks == nil {
		r.knocks = newKnocks(r.open.Addr())
	}
	r.tally(0)
	r.knocked = f
	waited, err := r.open.Refuse()
	r.tally(waited)
	return err
}

// tally books who was refused since the last time, and others.
func (r *relay) tally(others int) {
	if r.knocks == nil {
		return
	}
	n := r.knocks.more() + int64(others)
	f := r.knocked
	if f == nil {
		return
	}
	r.refused.Add(n)
	f.refused.Add(n)
	if f.inexact = r.knocks.inexact(); !f.inexact {
		f.connections.Add(n)
		r.acted[f.place].Add(n)
	}
}
