package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	conf := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "daemon off; error_log stderr; pid nginx.pid; events {} http { access_log off; server { listen 127.0.0.1:%d; } }", port), 0o644); err != nil {
		t.Fatal(err)
	}
	never := task.Ready{Log: "^never$"}
	for _, tc := range []struct {
		name string
		spec task.ProcessSpec
		want string
	}{
		{"missing", task.ProcessSpec{Command: []string{"no-such-program-1"}}, "there is no program no-such-program-1"},
		{"missing path", task.ProcessSpec{Command: []string{"./nothing"}}, "there is no program ./nothing"},
		{"dies", task.ProcessSpec{Command: sh("echo bad option >&2; exit 7"), Ready: never}, "it ended before it was ready: exit status 7; the last lines of its log"},
		{"shows its log", task.ProcessSpec{Command: sh("echo bad option >&2; exit 7"), Ready: never}, "| bad option"},
		{"killed", task.ProcessSpec{Command: sh("kill -9 $$"), Ready: never}, "signal: killed"},
		{"port", task.ProcessSpec{Command: []string{"sleep", "60"}, Ports: map[string]int{"http": 1}, Ready: task.Ready{Within: 200 * time.Millisecond}},
			"it is not ready after 200ms: port http accepts no connection"},
		{"log", task.ProcessSpec{Command: []string{"sleep", "60"}, Ready: task.Ready{Log: "^ready", Within: 200 * time.Millisecond}}, `no line of its output matches "^ready"; its log`},
		{"bad regexp", task.ProcessSpec{Command: []string{"sleep", "60"}, Ready: task.Ready{Log: "("}}, "missing closing )"},
		{"unknown port", task.ProcessSpec{Command: []string{"sleep", "60"}, Ready: task.Ready{TCP: []string{"https"}}, Ports: map[string]int{"http": 1}}, `no port "https"; it listens on: http`},
		{"port in use", task.ProcessSpec{Command: []string{"nginx", "-p", ".", "-e", "stderr", "-c", conf}, Ports: map[string]int{"http": port}}, "port http (127.0.0.1:" + strconv.Itoa(port) + ") is in use by process " + strconv.Itoa(os.Getpid())},
		{"signal", task.ProcessSpec{Command: []string{"sleep", "60"}, Stop: "NOSUCH"}, `no signal "NOSUCH"`},
		{"neither", task.ProcessSpec{}, "either a command or a builtin"},
		{"refuses", task.ProcessSpec{Builtin: "echo", Config: "refuse"}, "it is to refuse"},
		{"CPU", task.ProcessSpec{Command: []string{"sleep", "60"}, CPUs: []int{99999}}, "there is no CPU 99999"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHarness(t)
			tc.spec.Name = "x"
			begun := time.Now()
			p, err := h.g.Start(t.Context(), tc.spec)
			if err == nil {
				t.Fatalf("%v started", p)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q\nwant %q in it", err, tc.want)
			}
			var missing *MissingProgram
			if got := errors.As(err, &missing); got != strings.HasPrefix(tc.name, "missing") {
				t.Errorf("MissingProgram: %v", got)
			}
			if d := time.Since(begun); d > 20*time.Second {
				t.Errorf("it took %v: the end was not seen at once", d)
			}
			if n := len(h.g.All()); n != 0 {
				t.Errorf("%d processes live", n)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	h := newHarness(t)
	if _, err := h.g.Find("x"); err == nil || !strings.Contains(err.Error(), "none does") {
		t.Errorf("Find: %v", err)
	}
	exits := make(chan string, 1)
	p, err := h.g.Start(t.Context(), task.ProcessSpec{
		Name: "x", Command: sh(`echo "FOO=$FOO at $(pwd) nice $(nice) files $(ulimit -n)"; echo up; exec sleep 60`),
		Env: map[string]string{"FOO": "bar"}, Dir: filepath.Join(h.dir, "wd"), Nice: 3, Limits: task.Limits{Files: 77}, CPUs: []int{0},
		Ready:  task.Ready{Log: "^up$"},
		OnExit: func(status string, expected bool) { exits <- fmt.Sprint(status, " ", expected) },
	})
	if err != nil {
		t.Fatal(err)
	}
	log, from := p.(task.Logged).Log()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("FOO=bar at %s/wd nice 3 files 77\nup\n", h.dir); string(b[from:]) != want {
		t.Errorf("log: %q, want %q", b, want)
	}
	if got := p.CPUs(); !slices.Equal(got, []int{0}) {
		t.Errorf("CPUs: %v", got)
	}
	if mine, _ := kernel.Affinity(0); len(mine) < 2 {
		t.Log("this machine has one CPU; pinning shows nothing")
	}
	if s, ok := kernel.Read(p.PID()); !ok || s.Session != p.PID() {
		t.Errorf("not the leader of a session: %+v", s)
	}
	if _, err := h.g.Find("y"); err == nil || !strings.Contains(err.Error(), "these do: x") {
		t.Errorf("Find: %v", err)
	}
	again, err := h.g.Restart(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-exits; got != "signal: terminated true" {
		t.Errorf("exit: %s", got)
	}
	if again.PID() == p.PID() {
		t.Error("the same process")
	}
	if found, err := h.g.Find("x"); err != nil || len(found) != 1 || found[0] != again {
		t.Errorf("Find: %v, %v", found, err)
	}
	if err := h.g.Stop(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if err := h.g.Stop(t.Context(), again); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
	lines, err := os.ReadFile(filepath.Join(h.dir, "install", CommandsFile))
	if err != nil {
		t.Fatal(err)
	}
	var c Command
	if err := json.Unmarshal([]byte(strings.SplitN(string(lines), "\n", 2)[0]), &c); err != nil || c.PID != p.PID() || c.Env["FOO"] != "bar" || c.Command[0] != "sh" {
		t.Errorf("commands: %s, %v", lines, err)
	}
}

func TestUnexpectedEnd(t *testing.T) {
	h := newHarness(t)
	exits, over := make(chan string, 1), filepath.Join(h.dir, "over")
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: sh("while [ ! -e " + over + " ]; do sleep 0.02; done; exit 5"),
		OnExit: func(status string, expected bool) { exits <- fmt.Sprint(status, " ", expected) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(over, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if got := <-exits; got != "exit status 5 false" {
		t.Errorf("exit: %s", got)
	}
	if err := h.g.Signal(p, "HUP", false); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Signal: %v", err)
	}
}

func TestOnce(t *testing.T) {
	h := newHarness(t)
	out := filepath.Join(h.dir, "out")
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: sh("echo out; echo err >&2; exit 4"), Once: true, Output: out})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if status, expected := p.Exit(); status != "exit status 4" || !expected {
		t.Errorf("%s %v", status, expected)
	}
	b, _ := os.ReadFile(out)
	log, _ := p.(task.Logged).Log()
	e, _ := os.ReadFile(log)
	if string(b) != "out\n" || string(e) != "err\n" {
		t.Errorf("out %q, log %q", b, e)
	}
}

func TestBuiltin(t *testing.T) {
	h := newHarness(t)
	samples := make(chan string, 100)
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "web", Replica: 1, Builtin: "echo", Config: map[string]int{"a": 1}, CPUs: []int{0},
		OnSample: func(b json.RawMessage) { samples <- string(b) }})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.ReadyBody()); got != `{"got":"{\"a\":1}"}` {
		t.Errorf("ready: %s", got)
	}
	var reply string
	if err := p.Control(t.Context(), "hello", &reply); err != nil || reply != "hello" {
		t.Errorf("control: %q, %v", reply, err)
	}
	var s map[string]int
	if err := p.Sample(t.Context(), &s); err != nil || s["controls"] != 1 {
		t.Errorf("sample: %v, %v", s, err)
	}
	got := <-samples
	for got == `{"controls":0}` { // it also samples by itself, once a second
		got = <-samples
	}
	if got != `{"controls":1}` {
		t.Errorf("samples: %s", got)
	}
	if got := p.CPUs(); !slices.Equal(got, []int{0}) {
		t.Errorf("CPUs: %v", got)
	}
	if err := h.g.Stop(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if status, expected := p.Exit(); status != "exit status 0" || !expected {
		t.Errorf("%s %v", status, expected)
	}

	held, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "held", Builtin: "echo", Config: 1, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	if err := held.Control(t.Context(), "die", nil); err == nil {
		t.Error("it answered")
	}
	<-held.Exited()
	if status, expected := held.Exit(); status != "exit status 3" || expected {
		t.Errorf("%s %v", status, expected)
	}
}

// What a builtin said before it ended is taken before its stop is over, also if who takes it is behind.
func TestSamplesThatAreTakenLate(t *testing.T) {
	h := newHarness(t)
	late := make(chan struct{})
	var taken atomic.Int64
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "web", Builtin: "echo", Config: 1, Grace: 100 * time.Millisecond,
		OnSample: func(json.RawMessage) { <-late; taken.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-p.Exited()
		time.Sleep(200 * time.Millisecond)
		close(late)
	}()
	if err := h.g.Stop(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if taken.Load() == 0 {
		t.Error("its last sample was not taken")
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	h := newHarness(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user is bored")) })
	_, err := h.g.Start(ctx, task.ProcessSpec{Name: "x", Command: []string{"sleep", "60"}, Ports: map[string]int{"http": 1}})
	if err == nil || !strings.Contains(err.Error(), "the user is bored") {
		t.Errorf("%v", err)
	}
}
