package engine

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

// unheard is the relays' process whose answer to the first message is lost.
type unheard struct {
	task.Process
	server *faults.Server
	asked  int
}

var errLost = errors.New("the answer is lost")

func (u *unheard) Control(ctx context.Context, body, _ any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := u.server.Control(body.(faults.Control))
	if u.asked++; u.asked == 1 {
		return errLost
	}
	return err
}

// A toxic of which nobody knows whether it came to the relay is taken away again; one whose phase is over is not asked for.
func TestToxicWithoutAnswer(t *testing.T) {
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
	defer s.Stop(t.Context())
	p := &unheard{server: s}
	x := relays{in: &installation{faults: p, relays: spec.Relays, cell: &Cell{Relays: []string{"slow"}}}}
	stall := task.Toxic{Kind: "stall", Attributes: faults.Stall{}}
	if _, err := x.Fault(t.Context(), "slow", stall, time.Hour); !errors.Is(err, errLost) || p.asked != 2 {
		t.Errorf("asked %d times: %v", p.asked, err)
	}
	if r := s.Sample().Relays["slow/0"]; len(r.Toxics) > 0 {
		t.Errorf("still in force: %+v", r.Toxics)
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(task.ErrPhaseOver)
	if _, err := x.Fault(over, "slow", stall, time.Hour); !errors.Is(err, task.ErrPhaseOver) || p.asked != 2 {
		t.Errorf("after its phase: asked %d times: %v", p.asked, err)
	}
}
