package listen

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// failing is a listener that answers accept with errors, then with a connection, then like a closed one.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) == 0 {
		return nil, net.ErrClosed
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	if err == nil {
		c, _ := net.Pipe()
		return c, nil
	}
	return nil, &net.OpError{Op: "accept", Err: err}
}

func (f *failing) Close() error { return nil }

func TestAcceptOutlivesShortages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(&failing{errs: []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS, nil}})
		began := time.Now()
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("accept ended with %v", err)
		}
		c.Close()
		if got, want := time.Since(began), (5+10+20+40)*time.Millisecond; got != want {
			t.Errorf("paused %v, want %v", got, want)
		}
		if l.Errors() != 4 {
			t.Errorf("counted %d errors, want 4", l.Errors())
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the end: %v, want net.ErrClosed", err)
		}
	})
}

func TestCloseEndsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		for range 100 {
			errs = append(errs, syscall.EMFILE)
		}
		l := New(&failing{errs: errs})
		time.AfterFunc(time.Second+time.Millisecond, func() { l.Close() })
		began := time.Now()
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("got %v, want net.ErrClosed", err)
		}
		if got := time.Since(began); got != time.Second+time.Millisecond {
			t.Errorf("ended after %v", got)
		}
	})
}

func TestOpen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct{ address, class, message string }{
		{"127.0.0.1:0", "", ""},
		{taken.Addr().String(), "generator", "address already in use"},
		{"no-port", "spec", "missing port"},
	} {
		open, err := Open(map[string]string{"http": test.address})
		if test.class == "" {
			if err != nil {
				t.Fatal(err)
			}
			if at := open["http"].Addr().String(); strings.HasSuffix(at, ":0") {
				t.Errorf("%s: listens at %s", test.address, at)
			}
			Close(open)
			continue
		}
		var e *worker.Error
		if !errors.As(err, &e) || e.Class != test.class || !strings.Contains(e.Message, test.message) {
			t.Errorf("%s: %v, want class %s and %q", test.address, err, test.class, test.message)
		}
	}
}
