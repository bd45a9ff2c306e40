package load

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestIdleConnections: a connection that is open and idle costs kilobytes of the worker's memory, of which the second thousand
// takes as much as the first. The buffers of io_uring, of which there are as many as connections up to 1024, are in it.
func TestIdleConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of handshakes take their time; without -short this runs")
	}
	for _, tt := range []struct {
		name      string
		secure    bool
		few, many int
		most      int // bytes for a connection
	}{
		{"plain", false, 2000, 6000, 8 << 10},
		{"TLS", true, 200, 600, 64 << 10},
	} {
		for _, wire := range wires(t) {
			if wire == "goroutines" { // it is there for systems that have nothing better
				continue
			}
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				few, many := resident(t, tt.few, tt.secure, wire), resident(t, tt.many, tt.secure, wire)
				slope := (many - few) / (tt.many - tt.few)
				t.Logf("resident with %d connections %d KiB, with %d %d KiB: %d bytes a connection", tt.few, few>>10, tt.many, many>>10, slope)
				if slope > tt.most {
					t.Errorf("%d bytes a connection, at most %d were expected", slope, tt.most)
				}
			})
		}
	}
}

// resident is how many bytes of memory a worker process has with n idle connections.
func resident(t *testing.T, n int, secure bool, wire string) int {
	t.Helper()
	spec := Spec{Address: idle(t, secure), Connections: n, Reuse: true, Wire: wire, Rate: []RateStep{{To: 0}}}
	if secure {
		spec.Scheme = "https"
	}
	s := process(t)
	var ready Ready
	s.start(spec, &ready)
	if ready.Connections != n || ready.Verified != 1 {
		t.Fatalf("ready: %+v", ready)
	}
	time.Sleep(100 * time.Millisecond)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.client.Hello.PID))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(b)[1]))
	if err != nil {
		t.Fatal(err)
	}
	if c := s.stop().Counts; c.Opened != int64(n) || c.Due != 0 {
		t.Errorf("opened %d, outcomes %s", c.Opened, s.outcomes())
	}
	return pages * os.Getpagesize()
}

// idle is the address of a server that answers, whose own connections cost little.
func idle(t *testing.T, secure bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if secure {
		l = tls.NewListener(l, certified(t))
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var b [128]byte
				for {
					if n, err := c.Read(b[:]); err != nil {
						return
					} else if bytes.HasSuffix(b[:n], []byte("\r\n\r\n")) {
						c.Write([]byte(ok))
					}
				}
			}()
		}
	}()
	return address
}
