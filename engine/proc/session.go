package proc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// configure speaks with a builtin until it is ready, and unless it is held tells it to start.
func (p *Process) configure(ctx context.Context, ends pipes) error {
	type dialled struct {
		c   *worker.Client
		err error
	}
	got := make(chan dialled, 1)
	go func() {
		c, err := worker.Dial(ends.in, readCloser{ends.out}, worker.Options{Name: p.String(), Kind: p.spec.Builtin, OnSample: p.sampled})
		got <- dialled{c, err}
	}()
	select {
	case d := <-got:
		if d.err != nil {
			return p.endedOr(d.err)
		}
		p.client.Store(d.c)
	case <-ctx.Done():
		ends.in.Close() // it ends, and with it the dialling
		return fmt.Errorf("it does not say hello: %w", context.Cause(ctx))
	}
	var body json.RawMessage
	if err := p.Client().Configure(ctx, p.spec.Config, &body); err != nil {
		return p.endedOr(err)
	}
	p.ready = body
	if p.spec.Hold {
		return nil
	}
	if err := p.Client().Start(ctx); err != nil {
		return p.endedOr(err)
	}
	return nil
}

// endedOr says that the process ended, if that is why the session did.
func (p *Process) endedOr(err error) error {
	select {
	case <-p.exited:
		return fmt.Errorf("%w (%w)", errEnded, err)
	case <-time.After(200 * time.Millisecond):
		return err
	}
}

// readCloser closes the engine's end of the output once it was read to its end.
type readCloser struct{ f *os.File }

func (r readCloser) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if err == io.EOF {
		r.f.Close()
	}
	return n, err
}
