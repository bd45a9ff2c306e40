package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/planrun/planrun/engine"
)

// interrupts makes the first interrupt end the context, the second close hurry, and the third end the process. A terminal
// that goes away is an interrupt; a pipe that nobody reads any more is none, so that everything is undone all the same.
func interrupts(ctx context.Context, show progress) (_ context.Context, hurry <-chan struct{}, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	fast := make(chan struct{})
	sig := make(chan os.Signal, 3)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(sig, syscall.SIGHUP)
	}
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // writing fails then, instead of ending the process
	stop := make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			case <-sig:
			}
			switch n {
			case 1:
				show.say("interrupted: stopping the loads, then undoing everything; interrupt again not to wait for what is in flight")
				cancel(engine.ErrInterrupted)
			case 2:
				show.say("not waiting any more; interrupt again to leave at once")
				close(fast)
			default:
				leave(show)
			}
		}
	}()
	return ctx, fast, func() { signal.Stop(sig); signal.Stop(broken); close(stop); cancel(nil) }
}

// leave ends the process where it is.
func leave(show progress) {
	undo := "there is no result set yet"
	if dir := show.dir(); dir != "" {
		undo = "undo it with: planrun clean " + relative(dir)
	}
	show.say(fmt.Sprintf("left at once; what was changed is still there: %s", undo))
	show.close()
	os.Exit(exitInterrupted)
}
