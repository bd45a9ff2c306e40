package load

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

// TestLargeBodies: bodies that nobody looks at are counted to the byte over each wire, however they are cut, and beside small
// ones on the same connection.
func TestLargeBodies(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		w.Header().Set("Content-Length", strconv.Itoa(n))
		for n > 0 {
			k := min(n, 30_000)
			w.Write(bytes.Repeat([]byte("x"), k))
			n -= k
			if r.URL.Query().Has("slow") {
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		}
	}))
	t.Cleanup(srv.Close)
	for _, wire := range wires(t) {
		for _, path := range []string{"/?n=100000", "/?n=3000000", "/?n=100000&slow", "/?n={13..15}", "/?n={16000..17000}"} {
			t.Run(wire+path, func(t *testing.T) {
				t.Parallel()
				spec := Spec{Wire: wire, Address: srv.Listener.Addr().String(), Connections: 3, Reuse: true, SpreadPath: path}
				var want int64
				if paths, err := SpreadPaths(path); err != nil {
					spec.SpreadPath, spec.Path = "", path
					fmt.Sscanf(path, "/?n=%d", &want)
					spec.Expect.Bytes = &want
				} else {
					spec.Expect.Status = 200
					_ = paths
				}
				s, ready := begin(t, spec)
				if ready.Problem != "" {
					t.Errorf("ready: %+v", ready)
				}
				time.Sleep(200 * time.Millisecond)
				c := s.stop().Counts
				if c.OK != c.Due || c.OK == 0 || c.Opened != 3 || c.ReuseRetried != 0 || want > 0 && c.BytesIn < c.OK*want {
					t.Errorf("%s, opened %d, %d bytes", s.outcomes(), c.Opened, c.BytesIn)
				}
			})
		}
	}
}

// TestLargeBodyEnds: a connection that ends within a body that nobody looks at is a reset, over each wire.
func TestLargeBodyEnds(t *testing.T) {
	for _, wire := range wires(t) {
		for _, abort := range []bool{false, true} {
			t.Run(fmt.Sprint(wire, abort), func(t *testing.T) {
				address, _ := raw(t, func(c *net.TCPConn, next func() bool) {
					next()
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
					c.Write(make([]byte, 100_000))
					if abort {
						time.Sleep(5 * time.Millisecond)
						reset(c)
					}
				})
				s, _ := begin(t, Spec{Wire: wire, Address: address, Connections: 2, Reuse: true})
				time.Sleep(100 * time.Millisecond)
				c := s.stop().Counts
				if c.OK != 0 || c.Due == 0 || c.Errors[Reset] != c.Due {
					t.Error(s.outcomes())
				}
			})
		}
	}
}
