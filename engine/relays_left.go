package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/serve/faults"
)

// How long a target gets to close what it does not keep, once the loads have ended: until no relay holds a connection, or
// their number has not changed for leftSteady. No target may take longer than leftMost.
const (
	leftEvery  = 20 * time.Millisecond
	leftSteady = 300 * time.Millisecond
	leftMost   = 2 * time.Second
)

// relaysLeft asks the relays in the path what they still hold when the loads of a run have ended; nil if there are none. Who
// interrupted the run does not wait for it.
func (in *installation) relaysLeft(ctx context.Context) []record.RelayLeft {
	if in.faults == nil || ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return settled(func() []record.RelayLeft { return in.readRelays(ctx) })
}

// settled reads until nothing is left, nothing changes, or the time is over.
func settled(read func() []record.RelayLeft) []record.RelayLeft {
	begin := time.Now()
	steady, before := begin, int64(-1)
	for {
		left := read()
		live := int64(0)
		now := time.Now()
		for i := range left {
			live += left[i].Live
			left[i].After = now.Sub(begin).Seconds()
			if left[i].Why != "" {
				return left
			}
		}
		if live != before {
			steady, before = now, live
		}
		if live == 0 || now.Sub(steady) >= leftSteady || now.Sub(begin) >= leftMost {
			return left
		}
		time.Sleep(leftEvery)
	}
}

func (in *installation) readRelays(ctx context.Context) (out []record.RelayLeft) {
	var s faults.Sample
	err := in.faults.Sample(ctx, &s)
	if err != nil {
		for _, r := range in.relays {
			out = append(out, record.RelayLeft{Relay: r.Name, Why: err.Error()})
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.Relays)) {
		out = append(out, record.RelayLeft{Relay: name, Opened: s.Relays[name].Opened, Live: s.Relays[name].Live})
	}
	return out
}
