package kernel

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 7 8 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 12345 9 9\n"
	for _, tc := range []struct {
		line string
		want Stat
		ok   bool
	}{
		{"42 (sleep)" + rest, Stat{PID: 42, PPID: 1, Group: 7, Session: 8, State: 'S', Start: 12345}, true},
		{"42 (a) b) Z 9 (c)" + rest, Stat{PID: 42, PPID: 1, Group: 7, Session: 8, State: 'S', Start: 12345}, true},
		{"42 (new\nline)" + rest, Stat{PID: 42, PPID: 1, Group: 7, Session: 8, State: 'S', Start: 12345}, true},
		{"", Stat{}, false},
		{"42 (sleep) S 1 2 3", Stat{}, false},
		{"x (sleep)" + rest, Stat{}, false},
	} {
		got, ok := parseStat([]byte(tc.line))
		if ok != tc.ok || ok && !cmp.Equal(got, tc.want) {
			t.Errorf("%q: %+v, %v", tc.line, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sleep) S 1 7 8 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 12345 9 9\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseStat(b); ok && s.State == 0 {
			t.Errorf("%q has no state", b)
		}
	})
}

func TestSelf(t *testing.T) {
	s, ok := Read(os.Getpid())
	if !ok || s.PPID != os.Getppid() || s.Dead() || StartTime(s.PID) != s.Start {
		t.Errorf("%+v, %v", s, ok)
	}
	all, err := List()
	if err != nil || !slices.ContainsFunc(all, func(x Stat) bool { return x.PID == s.PID && x.Start == s.Start }) {
		t.Errorf("this process is not listed: %v", err)
	}
	if !slices.Contains(Environ(s.PID), "PATH="+os.Getenv("PATH")) {
		t.Error("its environment has another PATH")
	}
	if StartTime(1<<22+1) != 0 {
		t.Error("a process with an id that cannot be")
	}
	if len(BootID()) != 36 {
		t.Errorf("boot id %q", BootID())
	}
}

func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := Pin(before); err != nil {
			t.Error(err)
		}
	}()
	last := before[len(before)-1:]
	if err := Pin(last); err != nil {
		t.Error(err)
	}
	if got, err := Affinity(0); err != nil || !slices.Equal(got, last) {
		t.Errorf("pinned to %v, want %v: %v", got, last, err)
	}
	if err := Pin([]int{1 << 20}); err == nil {
		t.Error("pinned to a CPU that cannot be")
	}
	if err := Pin([]int{1000}); err == nil {
		t.Error("pinned to a CPU that is not there")
	}
	threads, err := Threads(os.Getpid())
	if err != nil || len(threads) == 0 {
		t.Errorf("%v, %v", threads, err)
	}
}

// A thread is pinned for as long as a function runs, and may run where it might before, also if the function
// fails. What cannot be pinned does not call it.
func TestPinned(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	for _, c := range []struct{ cpus, during []int }{{nil, before}, {before[:1], before[:1]}, {[]int{1023}, nil}} {
		var during []int
		err, back := Pinned(c.cpus, func() (err error) {
			if during, err = Affinity(0); err != nil {
				return err
			}
			return wrong
		})
		if back != nil || err == nil || errors.Is(err, wrong) != (c.during != nil) || !slices.Equal(during, c.during) {
			t.Errorf("CPUs %v: on %v; %v, %v", c.cpus, during, err, back)
		}
		if after, err := Affinity(0); err != nil || !slices.Equal(after, before) {
			t.Errorf("CPUs %v: then on %v, before on %v (%v)", c.cpus, after, before, err)
		}
	}
}

func TestListeners(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if got := Listeners(port); !slices.Equal(got, []int{os.Getpid()}) {
		t.Errorf("listeners: %v", got)
	}
	l.Close()
	if got := Listeners(port); slices.Contains(got, os.Getpid()) { // others may have got the port meanwhile
		t.Errorf("listeners after it was closed: %v", got)
	}
}
