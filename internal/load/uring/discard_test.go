//go:build linux && (amd64 || arm64)

package uring

import (
	"bytes"
	"net"
	"testing"
	"time"
)

// TestRecvDiscard: bytes are counted and thrown away up to the byte, over several arrivals.
func TestRecvDiscard(t *testing.T) {
	r, err := Open(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for range 10 {
			c.Write(make([]byte, 20_000))
			time.Sleep(time.Millisecond)
		}
		c.Write([]byte("the end"))
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.(*net.TCPConn).File() // blocking
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	defer f.Close()
	fd := int(f.Fd())
	var last int32
	var rest bytes.Buffer
	wait := func() {
		done := false
		for deadline := time.Now().Add(10 * time.Second); !done; {
			if time.Now().After(deadline) {
				t.Fatal("no completion")
			}
			if err := r.Wait(int64(time.Second), func(_ uint64, res int32, _ uint32, data []byte) {
				last, done = res, true
				rest.Write(data)
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for left := 200_000; left > 0; left -= int(last) {
		r.RecvDiscard(fd, left, 1)
		if wait(); last <= 0 || int(last) > left {
			t.Fatalf("%d of %d bytes were discarded", last, left)
		}
	}
	r.Recv(fd, 2)
	if wait(); rest.String() != "the end" {
		t.Errorf("after what was discarded: %q", rest.String())
	}
}
