//go:build linux && (amd64 || arm64)

package uring

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// longest is how long a test waits for what must happen, on a machine that is very busy.
const longest = time.Minute

type completion struct {
	ud    uint64
	res   int32
	flags uint32
	data  string
}

// ring opens a ring and closes it at the end of the test.
func ring(t testing.TB, c Config) *Ring {
	t.Helper()
	r, err := Open(c)
	if err != nil {
		t.Fatalf("these tests need io_uring: %v", err)
	}
	t.Cleanup(r.Close)
	return r
}

// until waits for completions until enough has happened.
func until(t testing.TB, r *Ring, enough func() bool, handle func(completion)) {
	t.Helper()
	for end := time.Now().Add(longest); !enough(); {
		if time.Now().After(end) {
			t.Fatal("nothing happens any more")
		}
		err := r.Wait(int64(time.Second), func(ud uint64, res int32, flags uint32, data []byte) {
			handle(completion{ud, res, flags, string(data)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// some waits for a number of completions.
func some(t testing.TB, r *Ring, n int) []completion {
	t.Helper()
	var all []completion
	until(t, r, func() bool { return len(all) >= n }, func(c completion) { all = append(all, c) })
	return all
}

// none checks that nothing completes any more of what is under way.
func none(t testing.TB, r *Ring) {
	t.Helper()
	for range 10 {
		err := r.Wait(int64(time.Millisecond), func(ud uint64, res int32, flags uint32, data []byte) {
			t.Errorf("completion of %d: result %d, flags %#x, %d bytes", ud, res, flags, len(data))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// pair is a descriptor for a ring and the other end of its connection.
func pair(t testing.TB) (int, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[1]), "peer")
	defer f.Close()
	peer, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.SetDeadline(time.Now().Add(longest)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); peer.Close() })
	return fds[0], peer
}

// tcpPair is pair over loopback.
func tcpPair(t testing.TB) (int, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	to := &unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	if err := peer.SetDeadline(time.Now().Add(longest)); err != nil {
		t.Fatal(err)
	}
	return fd, peer
}

// descriptors counts those of the process, after all of earlier tests are closed.
func descriptors(t testing.TB) int {
	t.Helper()
	echoes.Wait()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestCloseGivesEverythingBack(t *testing.T) {
	ring(t, Config{}).Close() // what is opened once for all
	fd, _ := pair(t)
	before := descriptors(t)
	for range 30 {
		r := ring(t, Config{Entries: 16, Buffers: 16, BufferSize: 100})
		if r.flags&enterRegisteredRing == 0 {
			t.Error("earlier rings are still in the thread's table")
		}
		r.RecvMultishot(fd, 1)
		if err := r.Wait(0, func(uint64, int32, uint32, []byte) {}); err != nil {
			t.Fatal(err)
		}
		r.RecvMultishot(fd, 2) // queued only
		r.Close()
		r.Close()
		if r.buffers.data != nil || r.buffers.ringMap != nil {
			t.Error("the buffers are still mapped")
		}
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(maps), "io_uring"); n != 0 {
		t.Errorf("%d maps are left", n)
	}
}

func TestCloseEndsOperations(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	r := ring(t, Config{})
	r.RecvMultishot(fds[0], 1)
	r.Close()
	unix.Close(fds[0])
	// The receive would have kept the socket open.
	if n, err := unix.Read(fds[1], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("read %d, %v from a socket whose peer is closed", n, err)
	}
}

func TestCloseSubmitsWhatIsQueued(t *testing.T) {
	fd, peer := pair(t)
	r := ring(t, Config{})
	message := []byte("last words")
	r.SendStatic(fd, message, 1)
	r.Close()
	got := make([]byte, len(message))
	if n, err := peer.Read(got); string(got[:n]) != string(message) {
		t.Errorf("got %q, %v", got[:n], err)
	}
}

func TestAnotherThread(t *testing.T) {
	r := ring(t, Config{Entries: 2})
	fd, _ := pair(t)
	err := make(chan error)
	go func() {
		for range 10 { // more than fit
			r.RecvMultishot(fd, 1)
		}
		err <- r.Wait(0, func(uint64, int32, uint32, []byte) {})
	}()
	if got := <-err; got == nil || !strings.Contains(got.Error(), "another thread") {
		t.Errorf("got %v", got)
	}
	if r.Wait(0, nil) == nil || r.Submit() == nil {
		t.Error("a broken ring works on")
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		in, want Config
		problem  string
	}{
		{in: Config{}, want: Config{1024, 4096, 256, 16384}},
		{in: Config{Entries: 32768, Buffers: 5}, want: Config{32768, 65536, 8, 16384}},
		{in: Config{Entries: 3, Completions: 3, Buffers: 1, BufferSize: 1}, want: Config{3, 3, 1, 1}},
		{in: Config{Entries: -1}, problem: "-1 entries"},
		{in: Config{Entries: 32769}, problem: "32769 entries"},
		{in: Config{Entries: 8, Completions: 7}, problem: "at least the 8 entries"},
		{in: Config{Buffers: 32769}, problem: "32769 buffers"},
		{in: Config{BufferSize: 16<<20 + 1}, problem: "16777217 bytes a buffer"},
		{in: Config{Buffers: 32768, BufferSize: 1 << 20}, problem: "more than 4 GiB"},
	} {
		got, err := c.in.complete()
		switch {
		case c.problem != "":
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%+v: got %v, want %q", c.in, err, c.problem)
			}
			if _, err := Open(c.in); err == nil {
				t.Errorf("%+v: opened", c.in)
			}
		case err != nil || got != c.want:
			t.Errorf("%+v: got %+v, %v, want %+v", c.in, got, err, c.want)
		default:
			r := ring(t, c.in)
			if len(r.sqes) < c.in.Entries || len(r.cqes) < c.in.Completions {
				t.Errorf("%+v: %d entries, %d completions", c.in, len(r.sqes), len(r.cqes))
			}
			r.Close()
		}
	}
}
