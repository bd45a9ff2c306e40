package actions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
)

// The test binary is also the builtins.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		main := map[string]func(io.Reader, io.Writer) error{"origin": origin.Main, "proxy": proxy.Main, "relay": relay.Main}[os.Args[2]]
		if err := main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A stage is an environment of actions with real processes and a real journal.
type stage struct {
	*task.Env
	t     *testing.T
	j     *journal.Journal
	m     *proc.Manager
	token string
	spec  any // of the action that runs

	mu      sync.Mutex
	values  map[string]any
	events  []string
	effects []task.Effect // of faults
	cond    func() (any, error)
	follow  []func(context.Context) error
	data    task.TemplateData
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, token: fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name()), values: map[string]any{}}
	set := t.TempDir()
	dir := filepath.Join(set, "install")
	var err error
	if s.m, err = proc.New(proc.Options{Token: s.token}); err != nil {
		t.Fatal(err)
	}
	if s.j, err = journal.Open(set, journal.Options{Token: s.token}); err != nil {
		t.Fatal(err)
	}
	g, err := s.m.Group(proc.GroupOptions{Dir: dir, Journal: s.j})
	if err != nil {
		t.Fatal(err)
	}
	s.Env = &task.Env{
		Log: slog.New(slog.DiscardHandler), Dir: dir, Journal: s.j, Processes: g, Name: "it",
		Event: func(kind, message string, _ map[string]any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, kind+": "+message)
		},
		Value: func(name string, v any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.values[name] = v
		},
		Eval:   func(context.Context, dsl.Expr) (any, error) { return s.cond() },
		Follow: func(update func(context.Context) error) { s.follow = append(s.follow, update) },
		Fault: func(f task.Fault) func(task.Effect) {
			tell := func(what string) {
				if !f.Moment {
					s.Event("fault", f.What+what, nil)
				}
			}
			tell(" begins")
			return func(e task.Effect) {
				tell(" ends")
				s.mu.Lock()
				defer s.mu.Unlock()
				s.effects = append(s.effects, e)
			}
		},
		Rebind:   func(int) (any, error) { return s.spec, nil },
		Template: func(int) task.TemplateData { return s.data },
		Endpoint: func(name string) (string, error) {
			for _, p := range g.All() {
				if port, ok := p.Ports()[name]; ok {
					return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
				}
			}
			return "", fmt.Errorf("no endpoint %s", name)
		},
		Address: func(name string) ([]string, error) {
			found, err := g.Find(name)
			if err != nil {
				return nil, err
			}
			var out []string
			for _, p := range found {
				out = append(out, net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Ports()["http"])))
			}
			return out, nil
		},
		Snapshot: func(probe string) (map[string]float64, error) {
			if probe != "host" {
				return nil, errors.New("no such probe")
			}
			return map[string]float64{"busy": 0.5}, nil
		},
		Ports: func(string, int) map[string]int { return nil }, CPUs: func(string) []int { return nil },
		Limits:  func(string) task.Limits { return task.Limits{} },
		Started: func(task.Process, []int) {}, OnExit: func(string, int) func(string, bool) { return nil },
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
	}
	t.Cleanup(func() {
		s.unwind()
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.j.Close()
		all, _ := kernel.List()
		for _, p := range all {
			for _, e := range kernel.Environ(p.PID) {
				if e == proc.EnvToken+"="+s.token && !p.Dead() {
					t.Errorf("process %d is left behind", p.PID)
				}
			}
		}
	})
	return s
}

// inRun makes it a phase of a run.
func (s *stage) inRun() {
	s.RunDir = s.t.TempDir()
	s.Phase = "measure"
}

// unwind undoes everything, as the end of an installation does.
func (s *stage) unwind() {
	s.t.Helper()
	undos := append(s.m.Undos(), Undos...)
	for _, f := range s.j.Unwind(context.Background(), undos, &task.UndoEnv{Log: s.Log, Token: s.token, Dir: s.Dir}, 20*time.Second) {
		s.t.Error(f)
	}
}

// do runs an action that is written as in a plan's install.
func (s *stage) do(text string) error { return s.doIn(context.Background(), text) }

func (s *stage) doIn(ctx context.Context, text string) error {
	s.t.Helper()
	a := s.action(text)
	s.spec = a.Spec
	s.Undo = nil
	for _, u := range a.Undo {
		s.Undo = append(s.Undo, task.Bound{Kind: u.Val.Kind, Spec: u.Val.Spec})
	}
	s.Do = func(ctx context.Context, actions []dsl.Part[dsl.Action]) error {
		for _, b := range actions {
			if err := b.Val.Spec.(task.Action).Run(ctx, s.Env); err != nil {
				return err
			}
		}
		return nil
	}
	return a.Spec.(task.Action).Run(ctx, s.Env)
}

func (s *stage) action(text string) dsl.Action {
	s.t.Helper()
	p, problems := loadPlan(s.t, "- "+text, "")
	if len(problems) > 0 {
		s.t.Fatalf("%s: %q", text, problems)
	}
	return p.Targets[0].Val.Install[0].Val
}

// must does something that has to succeed.
func (s *stage) must(text string) {
	s.t.Helper()
	if err := s.do(text); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
}

// fails does something that has to fail with an error that holds want.
func (s *stage) fails(text, want string) {
	s.t.Helper()
	if err := s.do(text); err == nil || !strings.Contains(err.Error(), want) {
		s.t.Errorf("%s: %v, want %q", text, err, want)
	}
}

func (s *stage) read(path string) string {
	s.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Error(err)
	}
	return string(b)
}
