package proc

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/internal/worker"
)

// The test binary is also a builtin, and an engine that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "worker":
			if err := worker.Serve(os.Stdin, os.Stdout, os.Args[2], &echo{}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "victim":
			victim(os.Args[2:])
			os.Exit(0)
		}
	}
	code := m.Run()
	if left := leftovers(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "processes were left behind: %v\n", left)
		code = 1
	}
	os.Exit(code)
}

// runToken begins the tokens of this run of the tests; others may go on beside it.
var runToken = fmt.Sprintf("test-%d-", os.Getpid())

// leftovers are the processes that carry the token of a test.
func leftovers() []string {
	var out []string
	all, _ := kernel.List()
	for _, s := range all {
		for _, e := range kernel.Environ(s.PID) {
			if strings.HasPrefix(e, EnvToken+"="+runToken) && !s.Dead() {
				out = append(out, describe([]kernel.Stat{s}))
			}
		}
	}
	return out
}

// echo is a builtin.
type echo struct{ n int }

func (e *echo) Configure(_ context.Context, spec json.RawMessage) (any, error) {
	if strings.Contains(string(spec), "refuse") {
		return nil, &worker.Error{Class: "spec", Message: "it is to refuse"}
	}
	fmt.Fprintln(os.Stderr, "configured with", string(spec))
	return map[string]string{"got": string(spec)}, nil
}
func (e *echo) Start() error { return nil }
func (e *echo) Control(_ context.Context, body json.RawMessage) (any, error) {
	e.n++
	if string(body) == `"die"` {
		os.Exit(3)
	}
	return body, nil
}
func (e *echo) Sample() any                { return map[string]int{"controls": e.n} }
func (e *echo) Stop(context.Context) error { return nil }

// harness is a manager with a group and a journal in a fresh result set. At the test's end everything must be gone.
type harness struct {
	t     *testing.T
	dir   string
	token string
	m     *Manager
	j     *journal.Journal
	g     *Group
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{t: t, dir: t.TempDir(), token: runToken + t.Name() + fmt.Sprint(time.Now().UnixNano())}
	var err error
	if h.m, err = New(Options{Token: h.token}); err != nil {
		t.Fatal(err)
	}
	if h.j, err = journal.Open(h.dir, journal.Options{Token: h.token}); err != nil {
		t.Fatal(err)
	}
	if h.g, err = h.m.Group(GroupOptions{Dir: filepath.Join(h.dir, "install"), Journal: h.j}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		log, err := journal.Read(h.dir)
		if err != nil {
			t.Error(err)
		} else if p := log.Pending(); len(p) > 0 {
			t.Errorf("entries were not marked as undone: %v", p)
		}
		h.j.Close()
		all, _ := kernel.List()
		for _, s := range all {
			for _, e := range kernel.Environ(s.PID) {
				if e == EnvToken+"="+h.token && !s.Dead() {
					t.Errorf("left behind: %s", describe([]kernel.Stat{s}))
				}
			}
		}
	})
	return h
}

func (h *harness) port() int {
	h.t.Helper()
	ports, err := h.g.Ports(1)
	if err != nil {
		h.t.Fatal(err)
	}
	return ports[0]
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}
