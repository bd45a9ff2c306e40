//go:build linux && (amd64 || arm64)

package uring

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func (r *Ring) sqOverflowed() bool { return atomic.LoadUint32(r.sqFlags)&sqOverflow != 0 }

func address2(t testing.TB, a net.Addr) (*Address, int) {
	t.Helper()
	var sa unix.Sockaddr
	family := unix.AF_INET
	switch a := a.(type) {
	case *net.TCPAddr:
		if ip := a.IP.To4(); ip != nil {
			sa = &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)}
		} else {
			sa, family = &unix.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP)}, unix.AF_INET6
		}
	case *net.UnixAddr:
		sa, family = &unix.SockaddrUnix{Name: a.Name}, unix.AF_UNIX
	}
	n, err := NewAddress(sa)
	if err != nil {
		t.Fatal(err)
	}
	return n, family
}

func TestMultishot(t *testing.T) {
	r := ring(t, Config{})
	fd, peer := pair(t)
	r.RecvMultishot(fd, 5)
	for _, s := range []string{"one", "two", "three"} {
		if _, err := peer.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if c := some(t, r, 1)[0]; c != (completion{5, int32(len(s)), More, s}) {
			t.Errorf("got %+v", c)
		}
	}
	peer.Close()
	if c := some(t, r, 1)[0]; c != (completion{5, 0, 0, ""}) {
		t.Errorf("at the end: %+v", c)
	}
	none(t, r)
}

func TestRecvOnce(t *testing.T) {
	r := ring(t, Config{BufferSize: 2})
	fd, peer := pair(t)
	r.Recv(fd, 5)
	if _, err := peer.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if c := some(t, r, 1)[0]; c.data != "ab" || c.flags&More != 0 {
		t.Errorf("got %+v", c)
	}
	none(t, r)
	r.Recv(fd, 6)
	if c := some(t, r, 1)[0]; c.ud != 6 || c.data != "c" {
		t.Errorf("got %+v", c)
	}
}

func TestNoBuffersEndsAMultishot(t *testing.T) {
	r := ring(t, Config{Buffers: 2, BufferSize: 4})
	fd, peer := pair(t)
	if _, err := peer.Write([]byte("0123456789ab")); err != nil {
		t.Fatal(err)
	}
	r.RecvMultishot(fd, 5)
	all := some(t, r, 3)
	want := []completion{{5, 4, More, "0123"}, {5, 4, More, "4567"}, {5, -int32(unix.ENOBUFS), 0, ""}}
	for i, c := range all {
		c.flags &^= NonEmpty
		if i >= len(want) || c != want[i] {
			t.Errorf("completion %d: %+v", i, c)
		}
	}
	none(t, r)
	r.RecvMultishot(fd, 5)
	if c := some(t, r, 1)[0]; c.data != "89ab" || c.flags&More == 0 {
		t.Errorf("queued again: %+v", c)
	}
}

func TestSendStatic(t *testing.T) {
	r := ring(t, Config{})
	fd, peer := pair(t)
	message := []byte("hello")
	r.SendStatic(fd, message, 5)
	none(t, r)
	got := make([]byte, 10)
	if n, err := peer.Read(got); string(got[:n]) != "hello" {
		t.Errorf("got %q, %v", got[:n], err)
	}
	// More than fits into the socket: goes on when there is room, still without a completion.
	large := pattern(1, 0, 3<<20)
	r.SendStatic(fd, large, 5)
	none(t, r)
	read := make(chan string)
	go func() {
		b := make([]byte, len(large))
		_, _ = io.ReadFull(peer, b)
		read <- string(b)
	}()
	var all string
	until(t, r, func() bool {
		select {
		case all = <-read:
			return true
		default:
			return false
		}
	}, func(c completion) { t.Errorf("got %+v", c) })
	if all != string(large) {
		t.Error("other bytes arrived")
	}
	// The peer goes away in the middle.
	r.SendStatic(fd, large, 6)
	none(t, r)
	peer.Close()
	if c := some(t, r, 1)[0]; c.ud != 6 || int(c.res) >= len(large) {
		t.Errorf("got %+v", c)
	}
	r.SendStatic(fd, message, 7)
	if c := some(t, r, 1)[0]; c.ud != 7 || c.res != -int32(unix.EPIPE) {
		t.Errorf("got %+v", c)
	}
}

func TestCancel(t *testing.T) {
	for _, how := range []struct {
		name   string
		cancel func(r *Ring, fd int, ud uint64)
	}{
		{"by user data", func(r *Ring, fd int, ud uint64) { r.Cancel(5, ud) }},
		{"by descriptor", func(r *Ring, fd int, ud uint64) { r.CancelFD(fd, ud) }},
	} {
		t.Run(how.name, func(t *testing.T) {
			r := ring(t, Config{})
			fd, peer := pair(t)
			other, otherPeer := pair(t)
			r.RecvMultishot(other, 4)
			for range 2 {
				r.RecvMultishot(fd, 5)
				how.cancel(r, fd, 6)
				got := map[uint64]int32{}
				for _, c := range some(t, r, 2) {
					got[c.ud] = c.res
				}
				if got[5] != -int32(unix.ECANCELED) || got[6] != 1 {
					t.Errorf("got %v", got)
				}
			}
			how.cancel(r, fd, 6)
			if c := some(t, r, 1)[0]; c.ud != 6 || c.res > 0 {
				t.Errorf("with nothing to cancel: %+v", c)
			}
			r.RecvMultishot(fd, 5)
			how.cancel(r, fd, Nobody)
			if c := some(t, r, 1)[0]; c.ud != 5 {
				t.Errorf("got %+v", c)
			}
			how.cancel(r, fd, Nobody)
			none(t, r)
			for _, p := range []net.Conn{peer, otherPeer} {
				if _, err := p.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			if c := some(t, r, 1)[0]; c.ud != 4 {
				t.Errorf("after cancelling: %+v", c)
			}
			none(t, r)
		})
	}
}

func TestCloseFD(t *testing.T) {
	r := ring(t, Config{})
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	r.RecvMultishot(fds[0], 1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	r.CancelFD(fds[0], Nobody)
	r.CloseFD(fds[0], 2)
	all := some(t, r, 2)
	if all[0].ud+all[1].ud != 3 {
		t.Errorf("got %+v", all)
	}
	r.RecvMultishot(fds[1], 3)
	if c := some(t, r, 1)[0]; c != (completion{3, 0, 0, ""}) {
		t.Errorf("the peer got %+v", c)
	}
	r.CloseFD(1<<30, Nobody)
	none(t, r)
	r.CloseFD(1<<30, 4)
	if c := some(t, r, 1)[0]; c.res != -int32(unix.EBADF) {
		t.Errorf("got %+v", c)
	}
}

func TestReset(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, family := address2(t, l.Addr())
	socket := func() int {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	r := ring(t, Config{})
	fd := socket()
	r.Connect(fd, a, 1)
	if c := some(t, r, 1)[0]; c != (completion{1, 0, 0, ""}) {
		t.Fatalf("connecting: %+v", c)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	r.RecvMultishot(fd, 2)
	none(t, r)
	if err := peer.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	peer.Close()
	if c := some(t, r, 1)[0]; c != (completion{2, -int32(unix.ECONNRESET), 0, ""}) {
		t.Errorf("got %+v", c)
	}
	l.Close()
	r.Connect(socket(), a, 3)
	if c := some(t, r, 1)[0]; c != (completion{3, -int32(unix.ECONNREFUSED), 0, ""}) {
		t.Errorf("got %+v", c)
	}
}

func TestAddress(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "s"), "@planrun-uring-test"} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		a, family := address2(t, l.Addr())
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		r := ring(t, Config{})
		r.Connect(fd, a, 1)
		if c := some(t, r, 1)[0]; c.res != 0 {
			t.Errorf("%s: %v", name, unix.Errno(-c.res))
		}
		r.Close()
	}
	for _, a := range []unix.Sockaddr{nil, &unix.SockaddrLinklayer{}, &unix.SockaddrUnix{}, &unix.SockaddrUnix{Name: strings.Repeat("x", 108)}} {
		if _, err := NewAddress(a); err == nil {
			t.Errorf("%#v can be connected to", a)
		}
	}
}
