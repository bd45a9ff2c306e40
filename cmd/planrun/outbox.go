package main

import (
	"io"
	"sync"
)

// An outbox writes lines in the order in which they came, and never makes who writes one wait: a terminal that was stopped,
// or a full pipe, must not hold up what is measured.
type outbox struct {
	mu     sync.Mutex
	more   *sync.Cond
	queue  []string
	closed bool
	done   chan struct{}
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{done: make(chan struct{})}
	o.more = sync.NewCond(&o.mu)
	go o.write(w)
	return o
}

func (o *outbox) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, line)
	o.more.Signal()
}

// close returns when everything is written.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.more.Signal()
	o.mu.Unlock()
	<-o.done
}

func (o *outbox) write(w io.Writer) {
	defer close(o.done)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed {
			o.more.Wait()
		}
		lines := o.queue
		o.queue = nil
		o.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, l := range lines {
			_, _ = io.WriteString(w, l) // nobody is left to be told
		}
	}
}
