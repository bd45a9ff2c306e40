package probes

import (
	"os"
	"slices"
	"testing"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// The target's CPUs matter, if it has any of its own.
func TestCPUsOf(t *testing.T) {
	process := func(role string, cpus ...int) task.Process { return &fake{role: role, cpus: cpus} }
	for _, c := range []struct {
		all  []task.Process
		want []int
	}{
		{nil, nil},
		{[]task.Process{process("load", 1)}, nil},
		{[]task.Process{process("sut", 0, 2), process("load", 1), process("sut", 3)}, []int{0, 2, 3}},
		{[]task.Process{process("sut", 0), process("sut")}, nil},
	} {
		if got := cpusOf(c.all, "sut"); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// It is measured once a second, however often the probe samples, on the CPU that the target is pinned to; all threads of this
// process stay where they may run, the main one too.
func TestHostSpeed(t *testing.T) {
	before, err := kernel.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []series.Point
	env := &task.ProbeEnv{Processes: &bench{all: []task.Process{&fake{role: "sut", cpus: before[:1]}}}, Emit: func(p series.Point) { got = append(got, p) }}
	var h hostSpeed
	for _, now := range []float64{0.001, 0.5, 0.99, 1.5, 2.01} {
		env.Now = now
		if err := h.sample(env); err != nil {
			t.Fatal(err)
		}
	}
	var times []float64
	for _, p := range got {
		times = append(times, p.T)
		if p.Series != "host_speed" || p.V <= 0.001 || p.V >= 100000 { // a piece of 10 ns or of a second
			t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(times, []float64{0.001, 0.99, 2.01}) {
		t.Errorf("measured at %v", times)
	}
	threads, err := kernel.Threads(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for tid, after := range threads {
		if !slices.Equal(after, before) {
			t.Errorf("thread %d may run on %v, it might on %v", tid, after, before)
		}
	}
}

// What cannot be measured is an error, and no point.
func TestHostSpeedOfNoCPU(t *testing.T) {
	env := &task.ProbeEnv{Processes: &bench{all: []task.Process{&fake{role: "sut", cpus: []int{1023}}}}, Emit: func(p series.Point) { t.Errorf("%+v", p) }}
	if err := new(hostSpeed).sample(env); err == nil {
		t.Error("there is no CPU 1023, and no error")
	}
}
