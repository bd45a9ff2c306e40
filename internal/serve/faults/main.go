package faults

import (
	"context"
	"encoding/json"
	"io"

	"github.com/planrun/planrun/internal/worker"
)

// Main is the relays as a worker process.
func Main(in io.Reader, out io.Writer) error { return worker.Serve(in, out, "faults", &process{}) }

type process struct{ server *Server }

func (p *process) Configure(_ context.Context, body json.RawMessage) (any, error) {
	var spec Spec
	if err := json.Unmarshal(body, &spec); err != nil {
		return nil, &worker.Error{Class: "spec", Message: err.Error()}
	}
	server, err := Start(spec)
	if err != nil {
		return nil, err
	}
	p.server = server
	return Ready{server.Addresses()}, nil
}

func (p *process) Start() error { return nil }

func (p *process) Control(_ context.Context, body json.RawMessage) (any, error) {
	var c Control
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, &worker.Error{Class: "spec", Message: err.Error()}
	}
	return p.server.Control(c)
}

func (p *process) Sample() any {
	if p.server == nil {
		return nil
	}
	return p.server.Sample()
}

func (p *process) Stop(ctx context.Context) error {
	if p.server == nil {
		return nil
	}
	return p.server.Stop(ctx)
}
