package probes

import (
	"testing"

	"golang.org/x/sys/unix"
)

// overflow fills the accept queue of a listener and goes on connecting.
func overflow(t *testing.T) {
	t.Helper()
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(l) })
	if err := unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(l, 1); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(l)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(c) })
		if err := unix.Connect(c, at); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
}
