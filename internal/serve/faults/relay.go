package faults

import (
	"context"
	"fmt"
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

	opened, live, dialErrors atomic.Int64
	bytesUp, bytesDown       atomic.Int64

	dialing   context.Context
	stopDials context.CancelFunc
	wg        sync.WaitGroup // the accept loop, connecting, and pairs

	mu      sync.Mutex
	pairs   map[*pair]struct{}
	stopped bool
	faults  faults
}

// newRelay makes a relay on an open listener; run starts it.
func newRelay(spec Relay, open *listen.Listener) (*relay, error) {
	register()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	r := &relay{
		spec: spec, open: open, api: api,
		proxy: toxiproxy.NewProxy(api, spec.Name, open.Addr().String(), spec.Upstream),
		pairs: map[*pair]struct{}{},
	}
	r.dialing, r.stopDials = context.WithCancel(context.Background())
	for name, p := range map[string]**permanent{Upstream: &r.up, Downstream: &r.down} {
		w, err := r.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"type":%q,"stream":%q}`, typeName, name)))
		if err != nil {
			return nil, fmt.Errorf("relay %s: %w", spec.Name, err)
		}
		*p = w.Toxic.(*permanent)
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
			r.wg.Go(func() { r.connect(c.(*net.TCPConn)) })
		}
	})
}

// connect reaches the upstream and starts the two links of a client's connection.
func (r *relay) connect(client *net.TCPConn) {
	number := uint64(r.opened.Add(1))
	r.live.Add(1)
	dialer := net.Dialer{Timeout: dialTimeout}
	c, err := dialer.DialContext(r.dialing, "tcp", r.spec.Upstream)
	if err != nil {
		if r.dialing.Err() == nil {
			r.dialErrors.Add(1)
		}
		client.SetLinger(0)
		client.Close()
		r.live.Add(-1)
		return
	}
	p := &pair{number: number, relay: r, client: client, server: c.(*net.TCPConn), dead: make(chan struct{})}
	p.open.Store(2)
	if !r.add(p) {
		p.kill()
		r.live.Add(-1)
		return
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	r.up.pair, r.down.pair = p, p
	name := fmt.Sprint(number, " ")
	r.proxy.Toxics.StartLink(r.api, name+Upstream, source{p, p.client}, &sink{p: p, c: p.server, count: &r.bytesUp}, stream.Upstream)
	r.proxy.Toxics.StartLink(r.api, name+Downstream, source{p, p.server}, &sink{p: p, c: p.client, count: &r.bytesDown}, stream.Downstream)
	r.up.pair, r.down.pair = nil, nil
}

// add registers a pair; it is false if the relay has stopped.
func (r *relay) add(p *pair) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.pairs[p] = struct{}{}
		r.wg.Add(1)
	}
	return !r.stopped
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
	return Counters{
		Opened: r.opened.Load(), Live: r.live.Load(), AcceptErrors: r.open.Errors(), DialErrors: r.dialErrors.Load(),
		BytesUp: r.bytesUp.Load(), BytesDown: r.bytesDown.Load(), Up: r.up.sample(), Down: r.down.sample(),
	}
}
