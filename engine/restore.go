package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// restoreWithin is how long a target has to serve what it served before.
const restoreWithin = 30 * time.Second

// restore puts backends and routes back as the installation was made, if a run changed them, and tells the target once.
// After an error the installation is no longer what it was.
func (in *installation) restore(ctx context.Context) error {
	in.mu.Lock()
	is, size, m, lost := in.moved.is, in.moved.size, in.moved.marker, in.moved.lost
	in.mu.Unlock()
	if !is {
		return nil
	}
	var surplus []task.Process
	for name, n := range size {
		all := in.replicas(name)
		came, err := in.startReplicas(ctx, name, n-len(all))
		if err != nil {
			return fmt.Errorf("starting a replica of %s again: %w", name, err)
		}
		surplus = append(surplus, all[min(n, len(all)):]...)
		in.setReplicas(name, append(all[:min(n, len(all))], came...))
	}
	in.mu.Lock()
	in.moved.routes, in.moved.marker = in.p.routes(), nil
	in.mu.Unlock()
	if err := in.tellTarget(ctx); err != nil {
		return fmt.Errorf("telling the target of its routes as they were: %w", err)
	}
	var served []func() (bool, error)
	if m != nil && m.why == "" && m.was.status == 0 && !m.unrouted(m.direct) {
		served = append(served, func() (bool, error) {
			a, err := m.ask(ctx, m.endpoint)
			return err == nil && m.unrouted(a), err
		})
	}
	for _, l := range lost {
		if l.was.status != 0 {
			served = append(served, func() (bool, error) { return l.back(ctx) })
		}
	}
	for _, as := range served {
		if _, why := await(ctx, restoreWithin, as); why != "" {
			return errors.New("the target does not serve its routes as they were: " + why)
		}
	}
	in.leave(surplus, time.Second, func(string, string, map[string]any) {})
	in.leaving.Wait()
	in.mu.Lock()
	in.moved.is, in.moved.lost = false, nil
	in.mu.Unlock()
	return ctx.Err()
}
