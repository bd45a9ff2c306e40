package probes

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

// From the same two scans, what is foreign differs by exactly what one of two readers takes for the plan's.
func TestForeignCPUIsWhatThePlanDidNotStart(t *testing.T) {
	f := burner(t, "app", "sut", "hot")
	newBench(f).until(t, newProcess(""), "cpu_user_s", "app", "", 0.1)
	scan := func() *proctree.Snapshot {
		s, err := proctree.Scan()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := scan()
	last := first
	for range 400 {
		if last.Get(f.PID()).Own.Total()-first.Get(f.PID()).Own.Total() >= 0.3 {
			break
		}
		time.Sleep(25 * time.Millisecond)
		last = scan()
	}
	span := last.At.Sub(first.At).Seconds()
	burnt := (last.Get(f.PID()).Own.Total() - first.Get(f.PID()).Own.Total()) / span

	see := func(busy ...int) (pts []series.Point) {
		var h hostCPU
		// No engine: the test is the parent of the burner, which would make it the plan's.
		env := &task.ProbeEnv{Now: 1, Engine: -1, Busy: func() []int { return busy }, Emit: func(p series.Point) { pts = append(pts, p) }}
		h.sample(first, env)
		if has(pts, "foreign_cpu", "") {
			t.Error("the CPU use of no time was sampled")
		}
		h.sample(last, env)
		return pts
	}
	mine, foreign := see(f.PID()), see()
	with, without := value(t, mine, "foreign_cpu", "", ""), value(t, foreign, "foreign_cpu", "", "")
	if with > 0 { // not held at zero
		if d := without - with - burnt; d > 1e-6 || d < -1e-6 {
			t.Errorf("foreign CPU %v with the burner as the plan's, %v without; it used %v cores", with, without, burnt)
		}
	} else if without > burnt || without < 0.5*burnt {
		t.Errorf("foreign CPU is %v while a foreign burner used %v cores", without, burnt)
	}
	total, sum := value(t, mine, "host_cpu", "", ""), 0.0
	if total < 0.8*burnt {
		t.Errorf("the machine's busy CPUs are %v, the burner alone used %v", total, burnt)
	}
	for _, pt := range mine {
		if pt.Series == "cpu_busy" {
			if !strings.HasPrefix(pt.Label, "cpu") || pt.V < 0 || pt.V > 1 {
				t.Errorf("%+v", pt)
			}
			sum += pt.V
		}
	}
	if d := sum - total; d > 1e-9 || d < -1e-9 {
		t.Errorf("the CPUs add up to %v, all are %v", sum, total)
	}
}

func TestHostSaysWhatProcSays(t *testing.T) {
	b, h := newBench(), &host{pace: pace{Every: time.Second}}
	pts := b.must(t, h)
	for _, name := range []string{"listen_drops", "listen_overflows", "syn_retransmits", "tcp_retransmits", "time_wait", "tcp_sockets", "load1", "context_switches"} {
		if !has(pts, name, "") {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range []string{"cpu_busy", "foreign_cpu", "host_cpu", "stolen_cpu"} {
		if has(pts, name, "") {
			t.Errorf("%s of no time", name)
		}
	}
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(raw), "MemAvailable:")
	kib, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, pts, "mem_free_mib", "", ""); got < 0.8*kib/1024 || got > 1.2*kib/1024 {
		t.Errorf("free memory %v MiB, /proc/meminfo %v", got, kib/1024)
	}
	if step := value(t, b.must(t, h), "clock_step_s", "", ""); step > 0.01 || step < -0.01 {
		t.Errorf("the clock stepped by %v s", step)
	}
	b.monotonic(t, h)
}

// A listener that does not accept overflows; the counter must show it.
func TestOverflowsShow(t *testing.T) {
	b, h := newBench(), &host{pace: pace{Every: time.Second}}
	before := value(t, b.must(t, h), "listen_overflows", "", "")
	overflow(t)
	for range 40 {
		if value(t, b.must(t, h), "listen_overflows", "", "") > before {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("an accept queue overflowed, the counter stands still")
}

var _ task.Probe = (*host)(nil)
