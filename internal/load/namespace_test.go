package load

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// apart runs f on a thread in a network namespace of its own, in which only 127.0.0.1 is there. Sockets and processes that f
// makes stay in it. That needs root.
func apart(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Errorf("a network namespace of its own, which root may have: %v", err)
			return
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(fd)
		lo, err := unix.NewIfreq("lo")
		if err != nil {
			t.Error(err)
			return
		}
		lo.SetUint16(unix.IFF_UP)
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
			t.Errorf("lo: %v", err)
			return
		}
		f()
	}()
	<-done
}

// TestPortsUsedUp: a machine without ports left does not blame the target, neither while connections are opened nor later.
func TestPortsUsedUp(t *testing.T) {
	for _, wire := range wires(t) {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			var s *session
			var address string
			apart(t, func() {
				if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40009"), 0); err != nil {
					t.Error(err)
					return
				}
				l, err := net.Listen("tcp", "127.0.0.1:80")
				if err != nil {
					t.Error(err)
					return
				}
				address = l.Addr().String()
				playOn(t, l, nil, 0, every(ok))
				s = process(t)
			})
			if t.Failed() {
				return
			}
			var ready Ready
			s.start(Spec{Address: address, Connections: 20, Reuse: true, Wire: wire, Timeout: 20 * time.Second, Rate: []RateStep{{2000, 2000, 10 * time.Millisecond}}}, &ready)
			if ready.Connections != 10 || ready.Verified != 1 || ready.Refused != "" ||
				!strings.HasPrefix(ready.Shortage, "10 of 20 connections were not opened: generator: cannot assign requested address") {
				t.Errorf("ready: %+v", ready)
			}
			time.Sleep(10 * time.Millisecond)
			c := s.stop().Counts
			if c.Due != 20 || c.OK == 0 || c.Generator == 0 || c.OK+c.Generator != 20 {
				t.Errorf("outcomes %s", s.outcomes())
			}
		})
	}
}
