package listen

import (
	"net"
	"net/http"
	"sync"
)

// Fresh knows the connections of net/http servers on which no request has begun. Shutdown would wait for them: five
// seconds in HTTP/1.1, and until the client closes it for one that begins to speak HTTP/2 at the wrong moment. A graceful
// stop closes them before it calls Shutdown.
type Fresh struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// Watch is a Server's ConnState.
func (f *Fresh) Watch(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(f.conns, c)
	case f.closed:
		c.Close()
	default:
		if f.conns == nil {
			f.conns = map[net.Conn]struct{}{}
		}
		f.conns[c] = struct{}{}
	}
}

// Close closes them, and those that are still to come.
func (f *Fresh) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.conns {
		c.Close()
	}
}
