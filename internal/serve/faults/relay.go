package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/rs/zerolog"

	"github.com/planrun/planrun/internal/serve/listen"
)

// dialTimeout bounds the connecting to an upstream.
const dialTimeout = 5 * time.Second

// A relay accepts connections and links them to its upstream.
type relay struct {
	spec     Relay
	open     *listen.Listener
	api      *toxiproxy.ApiServer
	proxy    *toxiproxy.Proxy // not started: it only holds the chains
	up, down *permanent
	starting sync.Mutex // links are started one at a time: see permanent.pair

	opened, live, dialErrors   atomic.Int64
	bytesUp, bytesDown, chunks atomic.Int64
	resets, closed, refused    atomic.Int64
	acted                      []atomic.Int64 // by the place of a kind

	dialing   context.Context
	stopDials context.CancelFunc
	wg        sync.WaitGroup // the accept loop, connecting, pairs, and what waits for them

	mu      sync.Mutex
	pairs   map[*pair]struct{}
	stopped bool
	faults  []*fault          // in the order in which they act
	expired map[string]*fault // by name: those whose time to live ended, until they are removed
	knocks  *knocks           // of those that are refused; nil: nobody is
	knocked *fault            // by which
}

// newRelay makes a relay on an open listener; run starts it.
func newRelay(spec Relay, open *listen.Listener) (*relay, error) {
	register()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	r := &relay{
		spec: spec, open: open, api: api,
		proxy: toxiproxy.NewProxy(api, spec.Name, open.Addr().String(), spec.Upstream),
		acted: make([]atomic.Int64, len(kinds)), pairs: map[*pair]struct{}{}, expired: map[string]*fault{},
	}
	r.dialing, r.stopDials = context.WithCancel(context.Background())
	for name, p := range map[string]**permanent{Upstream: &r.up, Downstream: &r.down} {
		w, err := r.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"type":%q,"stream":%q}`, typeName, name)))
		if err != nil {
			return nil, fmt.Errorf("relay %s: %w", spec.Name, err)
		}
		*p = w.Toxic.(*permanent)
		(*p).stream = name
		(*p).current.Store(&setting{})
	}
	return r, nil
}

func (r *relay) run() {
	r.wg.Go(func() {
		for {
			c, err := r.open.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.accepted(c.(*net.TCPConn)) })
		}
	})
}

// accepted does with a client's connection what the faults in force say; without any it is linked to the upstream.
func (r *relay) accepted(client *net.TCPConn) {
	p := &pair{number: uint64(r.opened.Add(1)), relay: r, began: time.Now(), client: client, done: make(chan struct{})}
	r.live.Add(1)
	switch f, what := r.at(p); what {
	case reset:
		f.reset(p, 0)
		r.live.Add(-1)
	case swallow:
		r.swallow(p, f)
	default:
		r.connect(p)
	}
}

// at is what becomes of a new connection.
func (r *relay) at(p *pair) (*fault, door) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.faults {
		if at := f.at(); at != open && at != shut && f.hits(p) {
			return f, at
		}
	}
	return nil, open
}

// swallow lets a connection go no further than here until the fault is over, and resets it then.
func (r *relay) swallow(p *pair, f *fault) {
	f.acts(p)
	if !r.add(p) {
		p.kill()
		r.live.Add(-1)
		return
	}
	p.lose(f) // after it was added: whoever ends the fault resets those that are there
	io.Copy(gone{f}, source{p, p.client, &p.up})
	select {
	case <-f.over:
		f.reset(p, 0)
	case <-p.done:
	}
	p.kill()
	r.ended(p)
}

// connect reaches the upstream and starts the two links of a client's connection.
func (r *relay) connect(p *pair) {
	dialer := net.Dialer{Timeout: dialTimeout}
	c, err := dialer.DialContext(r.dialing, "tcp", r.spec.Upstream)
	if err != nil {
		if r.dialing.Err() == nil {
			r.dialErrors.Add(1)
		}
		p.reset()
		r.live.Add(-1)
		return
	}
	p.server = c.(*net.TCPConn)
	p.open.Store(2)
	if !r.add(p) {
		p.kill()
		r.live.Add(-1)
		return
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	r.up.pair, r.down.pair = p, p
	name := fmt.Sprint(p.number, " ")
	r.proxy.Toxics.StartLink(r.api, name+Upstream, source{p, p.client, &p.up}, &sink{p: p, c: p.server, count: &r.bytesUp}, stream.Upstream)
	r.proxy.Toxics.StartLink(r.api, name+Downstream, source{p, p.server, &p.down}, &sink{p: p, c: p.client, count: &r.bytesDown}, stream.Downstream)
	r.up.pair, r.down.pair = nil, nil
}

// add registers a pair, and lets it meet the faults in force; it is false if the relay has stopped.
func (r *relay) add(p *pair) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.pairs[p] = struct{}{}
	r.wg.Add(1)
	for _, f := range r.faults {
		f.meets(p)
	}
	return true
}

// ended is called when both directions of a pair have.
func (r *relay) ended(p *pair) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pairs, p)
	r.live.Add(-1)
	r.wg.Done()
}

// sample reads the counters.
func (r *relay) sample() Counters {
	c := Counters{
		Opened: r.opened.Load(), Live: r.live.Load(), AcceptErrors: r.open.Errors(), DialErrors: r.dialErrors.Load(),
		BytesUp: r.bytesUp.Load(), BytesDown: r.bytesDown.Load(), Chunks: r.chunks.Load(),
		Resets: r.resets.Load(), Closed: r.closed.Load(), Acted: map[string]int64{},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally(0)
	c.Refused = r.refused.Load()
	for i := range r.acted {
		if n := r.acted[i].Load(); n > 0 {
			c.Acted[kinds[i].name] = n
		}
	}
	for _, f := range r.faults {
		if c.Toxics == nil {
			c.Toxics = map[string]Effect{}
		}
		c.Toxics[f.name] = f.sample()
	}
	return c
}
