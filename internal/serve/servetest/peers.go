package servetest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Upstream listens until the test ends and treats each connection with f, which need not close it. It returns its address.
func Upstream(t testing.TB, f func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				f(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// Echo sends back what comes.
func Echo(c *net.TCPConn) { io.Copy(c, c) }

// Refusing is an address that refuses connections until the test ends: its port is taken, so that nobody else can come to
// listen there, and not even a client's own port can be it.
func Refusing(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.(*unix.SockaddrInet4).Port}).String()
}

// Dial connects to an address; the connection is closed with the test.
func Dial(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, Patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(2 * Patience))
	return c.(*net.TCPConn)
}

// Refuses reports whether nobody accepts connections at the address.
func Refuses(address string) bool {
	c, err := net.DialTimeout("tcp", address, Patience)
	if err == nil {
		c.Close()
	}
	return err != nil
}

// Body is what the origin answers to /bytes/N and to /chunked/N, /100k being N = 102400: lines of 64 bytes, the last one cut
// off.
func Body(n int) []byte {
	const line = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n"
	return bytes.Repeat([]byte(line), n/len(line)+1)[:n]
}

// Over is a context that has ended: a server that is stopped with it does not wait.
func Over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
