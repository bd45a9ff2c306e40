package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

func start(t *testing.T, upstreams ...string) *Server {
	t.Helper()
	s, err := Start(Spec{Listen: map[string]string{"http": "127.0.0.1:0", "second": "127.0.0.1:0"}, Upstreams: upstreams})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(servetest.Over()) })
	return s
}

func dial(t *testing.T, s *Server) *net.TCPConn {
	t.Helper()
	return servetest.Dial(t, s.Addresses()["http"])
}

func TestHalfClose(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		c.Write(bytes.ToUpper(all))
	}))
	for _, size := range []int{0, 1, 4096, 32 << 10, 32<<10 + 1, 5 << 20} {
		c := dial(t, s)
		sent := bytes.Repeat([]byte("a"), size)
		go func() {
			c.Write(sent)
			c.CloseWrite()
		}()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, bytes.ToUpper(sent)) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		c.Close()
	}
	servetest.Eventually(t, "all closed", func() bool { return s.Sample().Listeners["http"].Live == 0 })
	want := Listener{Opened: 6, BytesUp: 0 + 1 + 4096 + 32<<10 + 32<<10 + 1 + 5<<20}
	want.BytesDown = want.BytesUp
	if got := s.Sample().Listeners["http"]; got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestCountsWhileConnectionsLive(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo))
	c := dial(t, s)
	for i := range int64(3) {
		c.Write([]byte("hello"))
		if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		servetest.Eventually(t, "five bytes more both ways", func() bool {
			l := s.Sample().Listeners["http"]
			return l == Listener{Opened: 1, Live: 1, BytesUp: 5 * (i + 1), BytesDown: 5 * (i + 1)}
		})
	}
}

func TestResetIsPassedOn(t *testing.T) {
	servetest.CheckLeaks(t)
	ended := make(chan error, 1)
	s := start(t, servetest.Upstream(t, func(c *net.TCPConn) {
		b := make([]byte, 1)
		if c.Read(b); b[0] == 'r' {
			c.SetLinger(0)
			return
		}
		_, err := c.Read(b)
		ended <- err
	}))
	c := dial(t, s)
	c.Write([]byte("r"))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the upstream's reset came as %v", err)
	}
	c = dial(t, s)
	c.Write([]byte("x"))
	servetest.Eventually(t, "passed on", func() bool { return s.Sample().Listeners["http"].BytesUp == 2 })
	c.SetLinger(0)
	c.Close()
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client's reset came as %v", err)
	}
}

func TestUpstreamsTakeTurns(t *testing.T) {
	servetest.CheckLeaks(t)
	say := func(text string) string {
		return servetest.Upstream(t, func(c *net.TCPConn) { io.WriteString(c, text) })
	}
	a, b := say("a"), say("b")
	s := start(t, a)
	ask := func(n int) (got string) {
		for range n {
			all, err := io.ReadAll(dial(t, s))
			if err != nil {
				t.Fatal(err)
			}
			got += string(all)
		}
		return got
	}
	if got := ask(2); got != "aa" {
		t.Errorf("one upstream: %q", got)
	}
	if _, err := s.Control(Control{[]string{a, b}}); err != nil {
		t.Fatal(err)
	}
	if got := ask(4); got != "abab" && got != "baba" {
		t.Errorf("two upstreams: %q", got)
	}
	if got := s.Sample().Upstreams[b]; got.Opened != 2 {
		t.Errorf("counted %+v", got)
	}
}

func TestUpstreamGone(t *testing.T) {
	servetest.CheckLeaks(t)
	gone := servetest.Refusing(t)
	s := start(t, gone)
	c, err := net.Dial("tcp", s.Addresses()["http"])
	if err == nil {
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	if got := s.Sample().Upstreams[gone]; got != (Upstream{Errors: 1}) {
		t.Errorf("counted %+v", got)
	}
}

func TestGracefulStop(t *testing.T) {
	servetest.CheckLeaks(t)
	s := start(t, servetest.Upstream(t, servetest.Echo))
	idle, moving := dial(t, s), dial(t, s)
	ask := func() error {
		moving.Write([]byte("x"))
		_, err := io.ReadFull(moving, make([]byte, 1))
		return err
	}
	servetest.Eventually(t, "two", func() bool { return s.Sample().Listeners["http"].Live == 2 })
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		s.Stop(t.Context())
		close(stopped)
	}()
	go func() {
		idle.Read(make([]byte, 1))
		moving.CloseWrite()
	}()
	last := time.Now()
	for i := 0; s.Sample().Listeners["http"].Live == 2; i++ {
		switch err := ask(); {
		case err == nil:
			last = time.Now()
		case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE), time.Since(last) > listen.Quiet: // a machine that stands still is quiet too
		default:
			t.Fatalf("after %d bytes: %v", i, err)
		}
	}
	<-stopped
	if n := s.Sample().Listeners["http"]; n.Live != 0 || n.Opened != 2 {
		t.Errorf("counted %+v", n)
	}
}

func TestSpecErrors(t *testing.T) {
	listen := map[string]string{"http": "127.0.0.1:0"}
	for _, test := range []struct {
		spec Spec
		want string
	}{
		{Spec{Upstreams: []string{"127.0.0.1:1"}}, "needs a listener"},
		{Spec{Listen: listen}, "needs an upstream"},
		{Spec{Listen: listen, Upstreams: []string{"nowhere"}}, `upstream "nowhere"`},
	} {
		_, err := Start(test.spec)
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" || !strings.Contains(e.Message, test.want) {
			t.Errorf("%+v: %v, want %q", test.spec, err, test.want)
		}
	}
}
