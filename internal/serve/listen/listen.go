// Package listen opens the listeners of planrun's own servers and keeps them open: a listener that runs out of
// descriptors or memory waits and tries again, and counts that it did, instead of ending.
package listen

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// Bounds of the pause after an error of accept; it doubles from one error to the next.
const (
	FirstPause = 5 * time.Millisecond
	LastPause  = 200 * time.Millisecond
)

// A Listener is a TCP listener whose Accept fails only when it is closed.
type Listener struct {
	net.Listener
	errors atomic.Int64
	once   sync.Once
	closed chan struct{}

	mu    sync.Mutex
	again chan struct{} // closed when it listens again; nil: it listens
}

// New keeps l open.
func New(l net.Listener) *Listener { return &Listener{Listener: l, closed: make(chan struct{})} }

// Accept returns the next connection. After an error it pauses and tries again; the only error that it returns is
// net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	pause := FirstPause
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			return c, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if again := l.refusing(); again != nil {
			select {
			case <-again:
			case <-l.closed:
				return nil, net.ErrClosed
			}
			continue
		}
		if !errors.Is(err, syscall.EINVAL) { // which is that it did not listen for a moment
			l.errors.Add(1)
		}
		select {
		case <-time.After(pause):
		case <-l.closed:
			return nil, net.ErrClosed
		}
		pause = min(2*pause, LastPause)
	}
}

// Errors is how many times accept failed since the listener was opened.
func (l *Listener) Errors() int64 { return l.errors.Load() }

// Close closes the listener; it may be called more than once.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Open listens at every address; names tell them apart. An address is host:port, port 0 for any free one. Where one
// cannot be opened none stays open, and the error is a *worker.Error of class "generator" (the port is taken, no
// descriptors) or "spec" (no such address).
func Open(addresses map[string]string) (map[string]*Listener, error) {
	open := map[string]*Listener{}
	for name, address := range addresses {
		l, err := net.Listen("tcp", address)
		if err != nil {
			Close(open)
			return nil, &worker.Error{Class: class(err), Message: fmt.Sprintf("listener %s: %v", name, err)}
		}
		open[name] = New(l)
	}
	return open, nil
}

// Close closes all listeners.
func Close(listeners map[string]*Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

func class(err error) string {
	for _, shortage := range []error{syscall.EADDRINUSE, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, shortage) {
			return "generator"
		}
	}
	return "spec"
}
