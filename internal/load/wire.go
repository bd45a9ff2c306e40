package load

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/worker"
)

// A wire moves the bytes of connections. It decides nothing about requests; what happens it tells the connection: connected
// once after connect, then arrived for bytes, or skipped for some of the next conn.skip that it need not show, and at last
// ended. All methods but wake are called from the loop's goroutine, and a connection may call any of them while it hears of
// something. A connection that was dropped hears no more.
type wire interface {
	// connect begins to connect; an error says that it could not even begin. drop is to be called then too.
	connect(c *conn) error
	// send writes b, which must not change as long as the connection lives, after all that was written before.
	send(c *conn, b []byte)
	// flush writes c.out and empties it, at once or as soon as the other side takes it.
	flush(c *conn)
	// pending tells whether something is written that the kernel has not taken yet.
	pending(c *conn) bool
	// drop closes the connection and forgets it.
	drop(c *conn)
	// poll waits for up to ns nanoseconds and tells the connections what happened; false if nothing did.
	poll(ns int64) bool
	// next is when the wire has something to do by itself; never if there is nothing.
	next() int64
	// wake makes a poll return.
	wake()
	// close gives everything back. All connections are dropped by then.
	close()
}

// rawWait is up to how long a wire waits without telling Go's scheduler. Telling it costs more than the wait itself: its
// monitor takes the processor from the thread 20 us later and gives it back, which at 1000 requests a second is half of all
// CPU time of the load. A collection is not held up, because the signal by which it stops a thread ends the wait.
const rawWait = 10 * time.Millisecond

// takenAtOnce is how many bytes the buffer of a socket takes at once, on which nothing is under way.
const takenAtOnce = 8 << 10

// dialClass is the class of an error of connect: what this machine lacks is not the target's failure.
func dialClass(err error) string {
	for _, own := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL, unix.EAGAIN, unix.ENOSPC} {
		if errors.Is(err, own) {
			return generatorClass
		}
	}
	return Connect
}

// notUring says why io_uring is not for this load; empty if it is. It saves most where many small requests are under way at
// once; epoll is as good or better for all else, and exact about when a request is sent, which io_uring does within its wait.
func (j *job) notUring() string {
	switch {
	case j.ReadRate > 0:
		return "io_uring has no bound on how fast is read"
	case j.Wire != "":
		return ""
	case len(j.Rate) > 0:
		return "io_uring sends within its wait, which is too late for the due times of an open loop"
	case j.Protocol != "h1" || j.Scheme != "http":
		return "io_uring saves nothing with TLS and HTTP/2"
	case j.Expect.Bytes != nil && *j.Expect.Bytes >= leastSkip:
		return "io_uring saves nothing where bodies are large"
	}
	return ""
}

// Wires are the names of what can move the bytes of a load, the best first.
var Wires = []string{"io_uring", "epoll", "goroutines"}

// choose gives the pool the best wire that works here, or the one that is asked for.
func (p *pool) choose() error {
	makes := map[string]func(*pool) (wire, error){"io_uring": newUringWire, "epoll": newEpollWire, "goroutines": newNetWire}
	var notes []string
	for _, name := range Wires {
		if p.job.Wire != "" && p.job.Wire != name {
			continue
		}
		if name == "io_uring" {
			if why := p.job.notUring(); why != "" {
				notes = append(notes, why)
				continue
			}
		}
		made, err := makes[name](p)
		if err == nil {
			p.wire, p.wireName, p.wireNote = made, name, strings.Join(notes, "; ")
			return nil
		}
		notes = append(notes, name+": "+err.Error())
	}
	if len(notes) == 0 {
		return wrong("wire %q: not one of %s", p.job.Wire, strings.Join(Wires, ", "))
	}
	return &worker.Error{Class: generatorClass, Message: "what moves the bytes: " + strings.Join(notes, "; ")}
}
