package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

// unheard is the relays' process whose answer to the first message does not come in time.
type unheard struct {
	task.Process
	server *faults.Server
	phase  context.CancelFunc
}

func (u *unheard) Control(ctx context.Context, body, _ any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := body.(faults.Control)
	u.phase()
	_, err := u.server.Control(c)
	return errors.Join(err, ctx.Err())
}

// A toxic that was asked for when its phase ended may have come to the relay: it is taken away again.
func TestToxicOfAPhaseThatEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	spec := faults.Spec{Relays: []faults.Relay{{Name: "slow/0", Listen: "127.0.0.1:0", Upstream: l.Addr().String()}}}
	s, err := faults.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer s.Stop(t.Context())
	x := relays{in: &installation{faults: &unheard{server: s, phase: cancel}, relays: spec.Relays, cell: &Cell{Relays: []string{"slow"}}}}
	if _, err := x.Fault(ctx, "slow", task.Toxic{Kind: "stall", Attributes: faults.Stall{}}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("asking: %v", err)
	}
	if r := s.Sample().Relays["slow/0"]; len(r.Toxics) > 0 {
		b, _ := json.Marshal(r)
		t.Errorf("still in force: %s", b)
	}
}
