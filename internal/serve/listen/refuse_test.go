package listen_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/planrun/planrun/internal/serve/listen"
	"github.com/planrun/planrun/internal/serve/servetest"
)

// A listener that refuses keeps its port, whether it was asked for or given, and goes on as before afterwards.
func TestRefuse(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "given"} {
		t.Run(address, func(t *testing.T) {
			servetest.CheckLeaks(t)
			if address == "given" {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				address = l.Addr().String()
				l.Close()
			}
			open, err := listen.Open(map[string]string{"x": address})
			if err != nil {
				t.Fatal(err)
			}
			l := open["x"]
			t.Cleanup(func() { l.Close() })
			accepted := make(chan net.Conn)
			go func() {
				defer close(accepted)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					accepted <- c
				}
			}()
			at := l.Addr().String()
			serves := func() {
				t.Helper()
				c := servetest.Dial(t, at)
				(<-accepted).Close()
				c.Close()
			}
			serves()
			for range 3 {
				for range 2 { // the second changes nothing
					if _, err := l.Refuse(); err != nil {
						t.Fatal(err)
					}
					if _, err := net.Dial("tcp", at); !errors.Is(err, syscall.ECONNREFUSED) {
						t.Fatalf("dialled: %v", err)
					}
				}
				for range 2 {
					if err := l.Again(); err != nil {
						t.Fatal(err)
					}
					serves()
				}
			}
			if n := l.Errors(); n != 0 {
				t.Errorf("counted %d errors of accept", n)
			}
			l.Refuse()
			l.Close()
			if _, ok := <-accepted; ok {
				t.Error("accepted a connection after its end")
			}
			if err := l.Again(); err != nil {
				t.Errorf("listening again after its end: %v", err)
			}
		})
	}
}
