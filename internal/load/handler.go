package load

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/planrun/planrun/internal/worker"
)

// Main is the life of a load worker process: it speaks the worker protocol until the engine stops it.
func Main(in io.Reader, out io.Writer) error {
	// The loop keeps one processor of Go's scheduler to itself (see rawWait); everything else needs another one, also on a
	// single CPU.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	return worker.Serve(in, out, "load", &handler{})
}

// A handler runs one load for the worker protocol: its specification is a Spec, its ready message a Ready, its control
// messages are Controls, answered by ControlReplies, and its samples Samples. A Control may also come before the start.
type handler struct {
	loop    *loop
	stopped bool
	health  watcher
}

func (h *handler) Configure(ctx context.Context, body json.RawMessage) (any, error) {
	var spec Spec
	if err := json.Unmarshal(body, &spec); err != nil {
		return nil, wrong("decoding the specification of a load: %v", err)
	}
	j, err := newJob(spec)
	if err != nil {
		return nil, err
	}
	from, err := sources(j.Sources)
	if err != nil {
		return nil, err
	}
	address := j.Address
	if j.Proxy != "" {
		address = j.Proxy
	}
	routes, err := resolve(ctx, address, from)
	if err != nil {
		if _, own := errors.AsType[*worker.Error](err); own {
			return nil, err
		}
		return nil, &worker.Error{Class: "target", Message: err.Error()}
	}
	h.end() // an earlier configuration
	l := newLoop(j)
	prepared := make(chan error, 1)
	go l.run(func() (*pool, error) {
		p := newPool(j, routes, l.clock, l)
		return p, p.choose()
	}, prepared)
	if err := <-prepared; err != nil {
		return nil, err
	}
	h.loop = l
	ready := make(chan Ready, 1)
	l.do(func() { l.prepare(func(r Ready) { ready <- r }) })
	select {
	case r := <-ready:
		if r.Connections >= 100 {
			debug.FreeOSMemory() // what the handshakes left is not collected while the load runs
		}
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *handler) Start() error {
	started := make(chan struct{})
	if !h.loop.do(func() { h.loop.start(); close(started) }) {
		return errors.New("the load has ended")
	}
	<-started
	return nil
}

func (h *handler) Control(_ context.Context, body json.RawMessage) (any, error) {
	var c Control
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, wrong("decoding a control message: %v", err)
	}
	reply := make(chan ControlReply, 1)
	if !h.loop.do(func() { reply <- h.loop.control(c.At, c.Phase) }) {
		return nil, errors.New("the load has ended")
	}
	return <-reply, nil
}

func (h *handler) Sample() any {
	if h.loop == nil {
		return nil
	}
	seconds, examples := h.loop.ledger.take()
	return &Sample{Seconds: seconds, Examples: examples, Health: h.health.look(h.loop), Final: h.stopped}
}

// Stop drains the load; when ctx ends, what is still open fails at once.
func (h *handler) Stop(ctx context.Context) error {
	if h.loop != nil {
		h.loop.do(h.loop.stop)
		select {
		case <-h.loop.ended:
		case <-ctx.Done():
			h.end()
		}
	}
	h.stopped = true
	return nil
}

// end ends the loop without a drain.
func (h *handler) end() {
	if h.loop != nil {
		h.loop.do(func() { h.loop.abandon(h.loop.clock(), "the load was ended without a drain") })
		<-h.loop.ended
	}
}
