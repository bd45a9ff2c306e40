//go:build linux && (amd64 || arm64)

package uring

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pattern is a stream in which no byte can stand for another one nearby.
func pattern(seed, from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		at := uint32(seed*7919 + from + i)
		b[i] = byte(at * 2654435761 >> 24)
	}
	return b
}

// A flow is a connection whose peer sends back what it gets.
type flow struct {
	seed, fd          int
	noEnd             bool // the end need not be seen: on Unix sockets kernels lose it
	sending           []byte
	sent, got, length int
	ended             bool
}

// open gives a flow a connection.
func (f *flow) open(t testing.TB) *flow {
	var peer net.Conn
	if f.seed%2 == 0 {
		f.fd, peer = tcpPair(t)
	} else {
		f.fd, peer = pair(t)
		f.noEnd = true
	}
	echo(peer)
	return f
}

func (f *flow) take(data string) error {
	if want := string(pattern(f.seed, f.got, len(data))); data != want {
		return fmt.Errorf("stream %d: the %d bytes from %d on are not those that were sent", f.seed, len(data), f.got)
	}
	f.got += len(data)
	return nil
}

var echoes sync.WaitGroup

// echo sends back what arrives until the end, then closes.
func echo(c net.Conn) {
	echoes.Go(func() {
		defer c.Close()
		_, _ = io.Copy(c, c) // the other side counts
	})
}

const recvs, sends, others = 0, 1 << 32, 2 << 32 // what a completion is of, beside the number of the flow

// run sends all flows' bytes and receives them back, in a schedule from rnd.
func run(t testing.TB, r *Ring, flows []*flow, rnd *rand.Rand) (noBuffers, overflows int) {
	left := len(flows)
	send := func(i int) {
		f := flows[i]
		if f.sent == f.length {
			_ = unix.Shutdown(f.fd, unix.SHUT_WR)
			return
		}
		n := min(1+rnd.IntN(1<<rnd.IntN(18)), f.length-f.sent)
		f.sending = pattern(f.seed, f.sent, n)
		r.Send(f.fd, f.sending, uint64(i)|sends)
	}
	recv := func(i int) {
		if rnd.IntN(3) == 0 {
			r.Recv(flows[i].fd, uint64(i)|recvs)
		} else {
			r.RecvMultishot(flows[i].fd, uint64(i)|recvs)
		}
	}
	for i := range flows {
		recv(i)
		send(i)
	}
	until(t, r, func() bool { return left == 0 }, func(c completion) {
		if r.sqOverflowed() {
			overflows++
		}
		i := int(uint32(c.ud))
		switch {
		case c.ud == Woken:
		case c.ud&sends != 0:
			f := flows[i]
			if int(c.res) != len(f.sending) {
				t.Fatalf("stream %d: sending %d bytes: %d", f.seed, len(f.sending), c.res)
			}
			f.sent += int(c.res)
			send(i)
			if rnd.IntN(20) == 0 {
				r.Cancel(uint64(i)|recvs, others)
			}
		case c.ud&others != 0:
			if c.res < 0 && c.res != -int32(unix.ENOENT) && c.res != -int32(unix.EALREADY) {
				t.Fatalf("cancelling: %v", unix.Errno(-c.res))
			}
		case c.res == -int32(unix.ENOBUFS):
			noBuffers++
			recv(i)
		case c.res == -int32(unix.ECANCELED):
			recv(i)
		case c.res > 0:
			if err := flows[i].take(c.data); err != nil {
				t.Fatal(err)
			}
			if flows[i].noEnd && flows[i].got == flows[i].length {
				flows[i].ended = true
				left--
			}
			if c.flags&More == 0 {
				recv(i)
			}
		case c.res == 0 && flows[i].noEnd:
		case c.res == 0:
			if flows[i].ended || c.flags&More != 0 {
				t.Fatalf("stream %d goes on after its end", flows[i].seed)
			}
			flows[i].ended = true
			left--
		default:
			t.Fatalf("stream %d: receiving: %v", flows[i].seed, unix.Errno(-c.res))
		}
	})
	for _, f := range flows {
		if f.got != f.length {
			t.Errorf("stream %d: %d bytes of %d", f.seed, f.got, f.length)
		}
	}
	return noBuffers, overflows
}

// FuzzSchedule sends streams over rings of all sizes, with cancelled receives and wake-ups in between, and checks every byte.
func FuzzSchedule(f *testing.F) {
	for i, c := range []struct {
		flows                                   uint8
		entries, completions, buffers, bytes, w uint16
	}{
		{1, 1, 1, 1, 1, 0},
		{2, 8, 8, 2, 16, 1},
		{20, 4, 4, 64, 512, 0},
		{50, 64, 256, 8, 4096, 50},
		{40, 16, 16, 4, 999, 3},
		{200, 256, 1024, 256, 16384, 10},
	} {
		f.Add(uint64(i), c.flows, c.entries, c.completions, c.buffers, c.bytes, c.w)
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint8, entries, completions, buffers, size, wakes uint16) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		// Without buffers the rounds that each byte takes grow with the square of the flows.
		c := Config{Entries: 1 + int(entries)%512, Buffers: 1 + int(count)/16 + int(buffers)%512, BufferSize: 1 + int(size)}
		c.Completions = c.Entries + int(completions)%1024
		r := ring(t, c)
		var flows []*flow
		for i := range 1 + int(count) {
			// As many bytes as take a bounded number of receives.
			f := &flow{seed: i, length: 1 + rnd.IntN(min(100*c.BufferSize, 4<<20/(1+int(count))))}
			flows = append(flows, f.open(t))
		}
		var waking sync.WaitGroup
		waking.Go(func() {
			for range int(wakes) % 100 {
				r.Wake()
				time.Sleep(10 * time.Microsecond)
			}
		})
		run(t, r, flows, rnd)
		waking.Wait()
	})
}

func TestWithoutNewerFlags(t *testing.T) {
	r, err := open(Config{Entries: 4}, setupNoSQArray)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.unregisterRing()
	r.flags &^= enterNoIOWait
	flows := several(t, 20, 30000)
	run(t, r, flows, rand.New(rand.NewPCG(1, 1)))
}

// several opens count flows of about length bytes.
func several(t *testing.T, count, length int) (flows []*flow) {
	for i := range count {
		f := &flow{seed: i, length: length + i}
		flows = append(flows, f.open(t))
	}
	return flows
}

func TestCompletionsThatDoNotFit(t *testing.T) {
	r := ring(t, Config{Entries: 4, Completions: 4, Buffers: 256, BufferSize: 64})
	flows := several(t, 100, 5000)
	if _, overflows := run(t, r, flows, rand.New(rand.NewPCG(1, 1))); overflows == 0 {
		t.Error("all completions did fit")
	}
}

func TestFewBuffers(t *testing.T) {
	r := ring(t, Config{Buffers: 2, BufferSize: 16})
	flows := several(t, 10, 3000)
	if noBuffers, _ := run(t, r, flows, rand.New(rand.NewPCG(1, 1))); noBuffers == 0 {
		t.Error("there were always buffers")
	}
}

func TestTCP(t *testing.T) {
	const count = 300
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(listen, func(t *testing.T) {
			l, err := net.Listen("tcp", listen)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			echoes.Go(func() {
				for {
					c, err := l.Accept()
					if errors.Is(err, net.ErrClosed) {
						return
					}
					if err == nil {
						echo(c)
					}
				}
			})
			r := ring(t, Config{Entries: 64})
			a, family := address2(t, l.Addr())
			var flows []*flow
			for i := range count {
				fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK*(i%2), 0)
				if err != nil {
					t.Fatal(err)
				}
				defer unix.Close(fd)
				flows = append(flows, &flow{seed: i, fd: fd, length: 10000 + 37*i})
				r.Connect(fd, a, uint64(i))
			}
			connected := some(t, r, count)
			slices.SortFunc(connected, func(a, b completion) int { return int(a.ud) - int(b.ud) })
			for i, c := range connected {
				if c.ud != uint64(i) || c.res != 0 {
					t.Fatalf("connection %d: %+v", i, c)
				}
			}
			run(t, r, flows, rand.New(rand.NewPCG(1, 1)))
		})
	}
}
