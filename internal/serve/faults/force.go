package faults

import (
	"cmp"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// A fault is a toxic in force at a relay.
type fault struct {
	name    string
	kind    string
	place   int    // of its kind
	stream  string // or Both
	toxic   toxic
	share   float64
	seed    uint64
	base    uint64 // the relay's last connection before it: random draws count from there, so that they repeat themselves
	began   time.Time
	relay   *relay
	expiry  *time.Timer
	over    chan struct{} // closed when it is no longer in force
	late    bool          // its time to live ended it
	inexact bool          // refused may be too many

	paces [2]pace // of a bandwidth that connections share, by stream

	connections, chunks, bytes, held, resets, closed, refused, sum, of atomic.Int64
}

// random draws for a connection; what is told apart by salt draws otherwise.
func (f *fault) random(p *pair, salt uint64) *rand.Rand {
	return rand.New(rand.NewPCG(f.seed, (p.number-f.base)<<8|salt))
}

// hits says whether it acts on a connection: rolled once, since the roll is a function of seed and number.
func (f *fault) hits(p *pair) bool {
	return f.share == 0 || f.random(p, 0).Float64() < f.share
}

// acts counts a connection on which it acts, once.
func (f *fault) acts(p *pair) {
	if _, again := p.acted.LoadOrStore(f, true); !again {
		f.connections.Add(1)
		f.relay.acted[f.place].Add(1)
	}
}

// reset resets a connection, if nothing has ended it already; sum is what is measured of that. It is counted before anyone
// can see it.
func (f *fault) reset(p *pair, sum int64) {
	if p.stop() {
		f.ends(p, &f.resets, &f.relay.resets, sum)
		p.reset()
	}
}

// finish ends a connection in order, likewise.
func (f *fault) finish(p *pair, sum int64) {
	if p.stop() {
		f.ends(p, &f.closed, &f.relay.closed, sum)
		p.finish()
	}
}

func (f *fault) ends(p *pair, mine, all *atomic.Int64, sum int64) {
	f.acts(p)
	f.measure(sum, 1)
	mine.Add(1)
	all.Add(1)
}

func (f *fault) sample() Effect {
	return Effect{Type: f.kind, Over: f.late, Connections: f.connections.Load(), Chunks: f.chunks.Load(), Bytes: f.bytes.Load(), Held: f.held.Load(),
		Resets: f.resets.Load(), Closed: f.closed.Load(), Refused: f.refused.Load(), Inexact: f.inexact, Sum: f.sum.Load(), Of: f.of.Load()}
}

// put adds a fault, in the place of one of its name, for as long as ttl.
func (r *relay) put(t Toxic, place int, made toxic) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	f := &fault{name: t.Name, kind: t.Type, place: place, stream: t.Stream, toxic: made, share: t.Share, seed: t.Seed ^ r.salt(),
		base: uint64(r.opened.Load()), began: time.Now(), relay: r, over: make(chan struct{})}
	r.end(r.named(t.Name))
	delete(r.expired, t.Name)
	r.faults = append(r.faults, f)
	slices.SortStableFunc(r.faults, func(a, b *fault) int { return cmp.Compare(a.place, b.place) })
	if err := r.apply(); err != nil {
		r.end(f)
		return err
	}
	f.expiry = time.AfterFunc(t.TTL, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if slices.Contains(r.faults, f) {
			f.late = true
			if err := r.end(f); err != nil {
				slog.Error("a toxic whose time to live is over", "relay", r.spec.Name, "toxic", f.kind, "error", err)
			}
			r.expired[f.name] = f
		}
	})
	for p := range r.pairs {
		f.meets(p)
	}
	return nil
}

// meets tells the toxic of a connection.
func (f *fault) meets(p *pair) {
	if m, ok := f.toxic.(meeter); ok && f.hits(p) {
		m.meet(f, p)
	}
}

// salt lets relays draw differently that were told the same.
func (r *relay) salt() uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.spec.Name))
	return h.Sum64()
}

// remove takes a fault away and says what it did; nil if there is none of the name.
func (r *relay) remove(name string) (*Effect, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.named(name)
	if f == nil {
		f = r.expired[name]
	}
	if f == nil {
		return nil, nil
	}
	err := r.end(f)
	delete(r.expired, name)
	e := f.sample()
	return &e, err
}

func (r *relay) named(name string) *fault {
	for _, f := range r.faults {
		if f.name == name {
			return f
		}
	}
	return nil
}

// end takes a fault out of force, if it is in force. The error is that of a listener which cannot listen again.
func (r *relay) end(f *fault) error {
	i := slices.Index(r.faults, f)
	if i < 0 {
		return nil
	}
	if f.expiry != nil {
		f.expiry.Stop()
	}
	r.faults = slices.Delete(r.faults, i, i+1)
	err := r.apply()
	close(f.over)
	for p := range r.pairs {
		p.afterLoss(f)
	}
	return err
}

// apply puts what is in force where the links and the listener see it.
func (r *relay) apply() error {
	for name, p := range map[string]*permanent{Upstream: r.up, Downstream: r.down} {
		var now setting
		for _, f := range r.faults {
			if f.stream == name || f.stream == Both {
				now.faults = append(now.faults, f)
			}
		}
		p.current.Store(&now)
	}
	return r.listening()
}

// at is what the fault does to new connections.
func (f *fault) at() door {
	if d, ok := f.toxic.(doorkeeper); ok {
		return d.door()
	}
	return open
}
