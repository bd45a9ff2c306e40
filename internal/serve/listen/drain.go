package listen

import (
	"context"
	"sync"
	"time"
)

// Quiet is for how long nothing must have moved over a connection for a graceful stop to close it.
const Quiet = time.Second

// Drain waits until all connections are closed. Each Quiet it has closeQuiet close what has moved nothing since its last call, and
// when ctx ends all.
func Drain(ctx context.Context, connections *sync.WaitGroup, closeQuiet func(all bool)) {
	ended := make(chan struct{})
	go func() {
		connections.Wait()
		close(ended)
	}()
	again := time.NewTimer(Quiet)
	defer again.Stop()
	for {
		closeQuiet(false)
		select {
		case <-again.C: // a ticker would come early after it came late
			again.Reset(Quiet)
		case <-ended:
			return
		case <-ctx.Done():
			closeQuiet(true)
			<-ended
			return
		}
	}
}
