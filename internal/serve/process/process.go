// Package process makes a worker process of one of planrun's own servers.
package process

import (
	"context"
	"encoding/json"
	"io"

	"github.com/planrun/planrun/internal/worker"
)

// A Server is a running server; C is its control message, R the reply to it, S its sample, cumulative since the start.
type Server[C, R, S any] interface {
	Addresses() map[string]string
	Control(C) (R, error)
	Sample() S
	Stop(context.Context) error
}

// Ready is the answer to configure: the server listens.
type Ready struct {
	Listen map[string]string `json:"listen"` // addresses by listener, with the ports that were given
}

// Serve is the life of a process whose server start makes from its specification.
func Serve[Spec, C, R, S any, T Server[C, R, S]](in io.Reader, out io.Writer, kind string, start func(Spec) (T, error)) error {
	return worker.Serve(in, out, kind, &handler[Spec, C, R, S, T]{start: start})
}

type handler[Spec, C, R, S any, T Server[C, R, S]] struct {
	start   func(Spec) (T, error)
	server  T
	started bool
}

func (h *handler[Spec, C, R, S, T]) Configure(_ context.Context, body json.RawMessage) (any, error) {
	if h.started {
		return nil, &worker.Error{Class: "spec", Message: "it is configured already"}
	}
	var spec Spec
	if err := decode(body, &spec); err != nil {
		return nil, err
	}
	server, err := h.start(spec)
	if err != nil {
		return nil, err
	}
	h.server, h.started = server, true
	return Ready{server.Addresses()}, nil
}

func (h *handler[Spec, C, R, S, T]) Start() error { return nil }

func (h *handler[Spec, C, R, S, T]) Control(_ context.Context, body json.RawMessage) (any, error) {
	var c C
	if err := decode(body, &c); err != nil {
		return nil, err
	}
	return h.server.Control(c)
}

func (h *handler[Spec, C, R, S, T]) Sample() any {
	if !h.started {
		return nil
	}
	return h.server.Sample()
}

func (h *handler[Spec, C, R, S, T]) Stop(ctx context.Context) error {
	if !h.started {
		return nil
	}
	return h.server.Stop(ctx)
}

func decode(body json.RawMessage, into any) error {
	if len(body) == 0 {
		body = json.RawMessage("{}")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &worker.Error{Class: "spec", Message: err.Error()}
	}
	return nil
}
