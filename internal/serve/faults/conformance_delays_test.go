package faults

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/serve/servetest"
)

func TestEndOfStreamIsDelayed(t *testing.T) {
	for kind, attributes := range map[string]any{"latency": Latency{Latency: 40 * time.Millisecond}, "slow-close": SlowClose{40 * time.Millisecond}} {
		t.Run(kind, func(t *testing.T) {
			servetest.CheckLeaks(t)
			address, told := telling(t)
			s := start(t, address, "web")
			c := dial(t, s, "web")
			ask(t, c)
			control(t, s, of(kind, attributes))
			began := time.Now()
			io.WriteString(c, "bye")
			if got, err := io.ReadAll(c); len(got) > 0 || err != nil || time.Since(began) < 40*time.Millisecond {
				t.Errorf("the end came after %v with %q, %v", time.Since(began), got, err)
			}
			c.Close()
			if s := ended(t, told); string(s.data) != "hellobye" || s.err != nil {
				t.Errorf("the upstream saw %q, %v", s.data, s.err)
			}
			if got, of := remove(t, s, kind).Measured(); of != 1 || got < 40 {
				t.Errorf("measured %g of %d", got, of)
			}
		})
	}
}

func TestBandwidthFromOutside(t *testing.T) {
	const rate, connections = 2e6, 2
	for _, shared := range []bool{false, true} {
		servetest.CheckLeaks(t)
		address, _ := telling(t)
		s := start(t, address, "web")
		control(t, s, of("bandwidth", Bandwidth{rate, shared}))
		least := time.Duration(flooded / rate * float64(time.Second))
		if shared {
			least *= connections
		}
		least -= catchUp // which a line may be ahead of itself
		began := time.Now()
		var all []*net.TCPConn
		for range connections {
			c := dial(t, s, "web")
			io.WriteString(c, "flood")
			all = append(all, c)
		}
		done := make(chan error, connections)
		for _, c := range all {
			go func() {
				_, err := io.ReadFull(c, make([]byte, flooded))
				done <- err
			}()
		}
		for range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took < least {
			t.Errorf("shared %v: took %v, want %v at least", shared, took, least)
		}
		e := remove(t, s, "bandwidth")
		if got, of := e.Measured(); got > 1.1*rate || of == 0 || e.Connections != connections {
			t.Errorf("shared %v: measured %g B/s of %d: %+v", shared, got, of, e)
		}
		for _, c := range all {
			ask(t, c)
		}
	}
}

func TestSlicesFromOutside(t *testing.T) {
	servetest.CheckLeaks(t)
	address, _ := telling(t)
	s := start(t, address, "web")
	control(t, s, of("slice", Slice{Size: 1000, Delay: 200 * time.Microsecond}))
	c := dial(t, s, "web")
	io.WriteString(c, "flood")
	if _, err := io.ReadFull(c, make([]byte, flooded)); err != nil {
		t.Fatal(err)
	}
	segments := uint32(0)
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			segments = info.Data_segs_in
		}
	})
	// Loopback takes 64 KiB in one; the system may put some pieces together that were written while it was busy.
	if segments < flooded/1000/4 {
		t.Errorf("came in %d segments", segments)
	}
	if got, of := remove(t, s, "slice").Measured(); got > 1000 || got <= 500 || of < flooded/1000 {
		t.Errorf("measured %g of %d", got, of)
	}
}
