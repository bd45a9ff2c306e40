package probes

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// The test binary is also the program that burns CPU in named threads, when this is set.
const burnerEnv = "PROBES_TEST_BURN"

func TestMain(m *testing.M) {
	if names := os.Getenv(burnerEnv); names != "" {
		burn(strings.Split(names, ","))
	}
	os.Exit(m.Run())
}

// burn runs one thread for each name until standard input ends; the name "idle" sleeps.
func burn(names []string) {
	named := make(chan bool, len(names))
	for _, name := range names {
		go func() {
			runtime.LockOSThread()
			var comm [16]byte
			copy(comm[:15], name)
			if err := os.WriteFile("/proc/thread-self/comm", comm[:len(name)], 0); err != nil {
				panic(err)
			}
			named <- true
			if name == "idle" {
				select {}
			}
			for n := 0; ; n++ { // burns
				if n < 0 {
					panic(n)
				}
			}
		}()
	}
	for range names {
		<-named
	}
	os.Stdout.WriteString("burning\n")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// A fake is a process that the test started, as the engine would hand it to a probe.
type fake struct {
	task.Process
	name, role string
	replica    int
	cpus       []int // pinned to; nil is not pinned
	cmd        *exec.Cmd
	sample     any       // what a builtin answers
	in         io.Closer // its standard input
	exited     chan struct{}
}

func (f *fake) Name() string            { return f.name }
func (f *fake) Role() string            { return f.role }
func (f *fake) Replica() int            { return f.replica }
func (f *fake) PID() int                { return f.cmd.Process.Pid }
func (f *fake) Exited() <-chan struct{} { return f.exited }
func (f *fake) Spec() task.ProcessSpec  { return task.ProcessSpec{CPUs: f.cpus} }

func (f *fake) Sample(_ context.Context, body any) error {
	if f.sample == nil {
		return errors.New("it is no builtin")
	}
	b, err := json.Marshal(f.sample)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, body)
}

// start runs a command and ends it with the test; closing its standard input must be enough, else it is killed.
func start(t *testing.T, name, role string, cmd *exec.Cmd) *fake {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &fake{name: name, role: role, cmd: cmd, in: in, exited: make(chan struct{})}
	go func() { cmd.Wait(); close(f.exited) }()
	t.Cleanup(func() {
		in.Close()
		select {
		case <-f.exited:
		case <-time.After(30 * time.Second):
			cmd.Process.Signal(unix.SIGTERM)
			select {
			case <-f.exited:
			case <-time.After(30 * time.Second):
				t.Errorf("%s did not end by itself", name)
				cmd.Process.Kill()
				<-f.exited
			}
		}
	})
	return f
}

// program finds an executable that a test needs.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			t.Fatalf("this test needs %s: %v", name, err)
		}
	}
	return path
}

// burner starts a process that burns CPU in threads of these names, and waits until they have them.
func burner(t *testing.T, name, role string, threads ...string) *fake {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), burnerEnv+"="+strings.Join(threads, ","))
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	f := start(t, name, role, cmd)
	w.Close()
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatalf("the burner does not burn: %v", err)
	}
	return f
}

// A bench is what the engine is to a probe.
type bench struct {
	task.Processes
	all    []task.Process
	ended  []task.Process
	busy   []int
	engine int
	points []series.Point
	began  time.Time
}

func newBench(ps ...*fake) *bench {
	b := &bench{began: time.Now(), engine: os.Getpid()}
	for _, p := range ps {
		b.all = append(b.all, p)
		b.busy = append(b.busy, p.PID())
	}
	return b
}

func (b *bench) All() []task.Process { return b.all }

func (b *bench) Find(name string) ([]task.Process, error) {
	if out := pick(b.all, name); len(out) > 0 {
		return out, nil
	}
	return nil, errors.New("no process " + name)
}

func (b *bench) env() *task.ProbeEnv {
	return &task.ProbeEnv{
		Log: slog.New(slog.DiscardHandler), Now: time.Since(b.began).Seconds(), Processes: b, Engine: b.engine,
		Busy: func() []int { return b.busy }, Emit: func(series.Point) {}, Ended: func() []task.Process { return b.ended },
	}
}

// sample takes one sample, whose points it returns.
func (b *bench) sample(t *testing.T, p task.Probe) ([]series.Point, error) {
	t.Helper()
	var out []series.Point
	env := b.env()
	env.Emit = func(p series.Point) { out = append(out, p) }
	err := p.Sample(context.Background(), env)
	known := map[string]bool{}
	for _, d := range p.Produces() {
		known[d.Name] = true
	}
	for _, pt := range out {
		if !known[pt.Series] {
			t.Errorf("point of series %s, which the probe does not declare", pt.Series)
		}
	}
	b.points = append(b.points, out...)
	return out, err
}

// must is sample where an error fails the test.
func (b *bench) must(t *testing.T, p task.Probe) []series.Point {
	t.Helper()
	out, err := b.sample(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// value is the one point of a series and source; label "" takes any.
func value(t *testing.T, pts []series.Point, name, source, label string) float64 {
	t.Helper()
	for _, p := range pts {
		if p.Series == name && p.Source == source && (label == "" || p.Label == label) {
			return p.V
		}
	}
	t.Fatalf("no %s of %q %s in %v", name, source, label, pts)
	return 0
}

// until samples until a value is reached.
func (b *bench) until(t *testing.T, p task.Probe, name, source, label string, least float64) []series.Point {
	t.Helper()
	for range 400 {
		pts := b.must(t, p)
		for _, pt := range pts {
			if pt.Series == name && pt.Source == source && strings.HasPrefix(pt.Label, label) && pt.V >= least {
				return pts
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s of %s %s did not reach %v: %v", name, source, label, least, b.must(t, p))
	return nil
}

func has(pts []series.Point, name, source string) bool {
	for _, p := range pts {
		if p.Series == name && p.Source == source {
			return true
		}
	}
	return false
}

// monotonic fails if a counter of the probe ever went backwards.
func (b *bench) monotonic(t *testing.T, p task.Probe) {
	t.Helper()
	type key struct {
		series, source, label string
		replica               int
	}
	counter := map[string]bool{}
	for _, d := range p.Produces() {
		counter[d.Name] = d.Shape == series.Counter
	}
	last := map[key]float64{}
	for _, pt := range b.points {
		k := key{pt.Series, pt.Source, pt.Label, pt.Replica}
		if counter[pt.Series] && pt.V < last[k] {
			t.Errorf("%v went from %v to %v", k, last[k], pt.V)
		}
		last[k] = pt.V
	}
}
