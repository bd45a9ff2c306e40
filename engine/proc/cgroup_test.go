package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/task"
)

func TestCgroupHome(t *testing.T) {
	for _, tc := range []struct {
		name, own, mounts string
		v1                map[string]string
		v2                string
	}{
		{"version 2", "0::/user.slice/a.scope\n", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n", map[string]string{}, "/sys/fs/cgroup/user.slice/a.scope"},
		{"container", "0::/\n", "30 24 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", map[string]string{}, "/sys/fs/cgroup"},
		{"hybrid", "3:cpu,cpuacct:/\n2:memory:/a/b\n0::/\n",
			"1 0 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n2 0 0:2 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			map[string]string{"memory": "/sys/fs/cgroup/memory/a/b", "cpu": "/sys/fs/cgroup/cpu", "cpuacct": "/sys/fs/cgroup/cpu"}, "/sys/fs/cgroup/unified"},
		{"mounted from below", "2:memory:/docker/x\n", "1 0 0:1 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", map[string]string{"memory": "/sys/fs/cgroup/memory"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := cgroupHome{v1: map[string]string{}}
			h.read(tc.own, tc.mounts)
			if d := cmp.Diff(tc.v1, h.v1); d != "" || h.v2 != tc.v2 {
				t.Errorf("version 2 %q, version 1 %s", h.v2, d)
			}
		})
	}
}

func TestCgroupWrites(t *testing.T) {
	top := t.TempDir()
	own := filepath.Join(top, "user.slice", "login.scope")
	two := cgroupHome{v2: own, v2Top: top}
	// cgroup makes one that offers controllers, gives some to its children already, and holds processes.
	cgroup := func(dir, has, on, procs string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"cgroup.controllers": has, "cgroup.subtree_control": on, "cgroup.procs": procs, "cgroup.type": "domain"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	const every = "cpu memory pids"
	all := task.Limits{Memory: 1 << 20, CPU: 1.5, Processes: 7}
	cgroup(own, every, "", "1")
	cgroup(filepath.Dir(own), every, "memory", "")
	cgroup(top, every, every, "2")
	w, err := cgroupWrites(two, all, task.Limits{})
	if err != nil || len(w) != 1 || w[0].dir != filepath.Dir(own) || w[0].enable != "+cpu +pids" || !slices.Contains(w[0].files, cgroupFile{name: "cpu.max", value: "150000 100000"}) {
		t.Errorf("its own holds processes, so the next one: %+v, %v", w, err)
	}
	cgroup(filepath.Dir(own), "memory", "memory", "")
	if w, err = cgroupWrites(two, all, task.Limits{}); err != nil || len(w) != 1 || w[0].dir != top || w[0].enable != "" {
		t.Errorf("only the first of all has all: %+v, %v", w, err)
	}
	if w, err = cgroupWrites(two, task.Limits{Memory: 1 << 20}, task.Limits{}); err != nil || w[0].dir != filepath.Dir(own) {
		t.Errorf("memory alone: %+v, %v", w, err)
	}
	if w, err = cgroupWrites(two, task.Limits{}, task.Limits{CPU: 1}); err != nil || w[0].dir != top || len(w[0].files) > 0 {
		t.Errorf("a limit that comes later: %+v, %v", w, err)
	}
	w, err = cgroupWrites(cgroupHome{v1: map[string]string{"memory": "/m", "cpu": "/c", "pids": "/p"}}, all, task.Limits{})
	if err != nil || len(w) != 3 || w[0].dir != "/m" || w[1].files[1] != (cgroupFile{name: "cpu.cfs_quota_us", value: "150000"}) {
		t.Errorf("%+v, %v", w, err)
	}
	cgroup(top, every, "memory", "2")
	for _, tc := range []struct {
		home cgroupHome
		l    task.Limits
		want string
	}{
		{cgroupHome{}, task.Limits{Memory: 1}, "limits: memory cannot be limited: the kernel offers no such cgroup controller here"},
		{two, task.Limits{CPU: 1}, "limits: cpu cannot be limited: " + own + " holds processes itself"},
		{two, task.Limits{Memory: 1, IgnoreSocketBuffers: true}, "version 2, which always count them"},
	} {
		_, err := cgroupWrites(tc.home, tc.l, task.Limits{})
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}

// Nobody goes on looking for kills in a cgroup that cannot be removed; it is removed once it can be.
func TestCgroupThatStays(t *testing.T) {
	dir := t.TempDir()
	busy := filepath.Join(dir, "planrun-x", "below")
	if err := os.MkdirAll(busy, 0o755); err != nil {
		t.Fatal(err)
	}
	h := newHarness(t)
	entry, err := h.j.Add(kindCgroup, []string{filepath.Dir(busy)})
	if err != nil {
		t.Fatal(err)
	}
	c := &cgroup{dirs: []string{filepath.Dir(busy)}, memory: filepath.Dir(busy), entry: entry, tell: func(int) {}, over: make(chan struct{})}
	watched := make(chan struct{})
	go func() { c.watch(); close(watched) }()
	if err := c.remove(); err == nil {
		t.Error("what is not empty was removed")
	}
	select {
	case <-watched:
	case <-time.After(20 * time.Second):
		t.Fatal("it is still watched")
	}
	if err := os.Remove(busy); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Dir(busy)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}

// How often a limit was reached is read of version 2 and of version 1.
func TestPressure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"cpu.stat": "nr_periods 9\nnr_throttled 2\n", "memory.events": "low 0\nhigh 7\nmax 3\noom_kill 1\n", "memory.failcnt": "4\n", "pids.events": "max 5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := &cgroup{dirs: []string{dir}}
	got := c.pressure()
	if want := (Pressure{Periods: 9, HeldBack: 2, MemoryReached: 7, Kills: 1, ForksRefused: 5}); got != want || got.None() || !got.Since(got).None() {
		t.Errorf("%+v", got)
	}
	c.dirs = []string{t.TempDir()}
	if got := c.pressure(); !got.None() {
		t.Errorf("%+v", got)
	}
}

// How often a limit was reached is known after its cgroup went with the process, and is about that limit alone.
func TestPressureOfChanged(t *testing.T) {
	h, dir := newHarness(t), filepath.Join(t.TempDir(), "planrun-x")
	stat := func(periods, heldBack int) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), fmt.Appendf(nil, "nr_periods %d\nnr_throttled %d\n", periods, heldBack), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(kind string) task.Entry {
		e, err := h.j.Add(kind, []string{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	c := &cgroup{dirs: []string{dir}, entry: entry(kindCgroup), over: make(chan struct{})}
	stat(10, 1)
	begun := c.pressure()
	stat(30, 5)
	if err := c.remove(); err == nil { // the kernel's files go with their directory, these do not
		t.Error("what is not empty was removed")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := c.remove(); err != nil {
		t.Fatal(err)
	}
	for l, want := range map[task.Limits]Pressure{{CPU: 1}: {Periods: 20, HeldBack: 4}, {Memory: 1, Processes: 1}: {}} {
		seen, err := (&Changed{c: c, limits: l, begun: begun, entry: entry(kindLimit)}).Restore()
		if err != nil || seen != want {
			t.Errorf("%+v: %+v, %v", l, seen, err)
		}
	}
}

// A limit that changes while a process runs is set, taken back, and taken back from the journal alone; kills for want of memory
// are told of also where the process itself goes on.
func TestLimitChanges(t *testing.T) {
	h := newHarness(t)
	kills := make(chan int, 100)
	h.g.opts.OnOOM = func(who string, n int) {
		if who != "x/0" {
			t.Errorf("killed in the cgroup of %s", who)
		}
		kills <- n
	}
	h.g.opts.Adjustable = map[string]task.Limits{"x": {Memory: 1, CPU: 1}}
	started, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Limits: task.Limits{Memory: 256 << 20}, Command: sh("while :; do head -c 60000000 /dev/zero | tail >/dev/null; sleep 0.05; done")})
	var refused *Refusal
	if errors.As(err, &refused) {
		t.Logf("no cgroups here: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	p := started.(*Process)
	was := p.Limited()
	if was != (task.Limits{Memory: 256 << 20}) {
		t.Errorf("limits %+v", was)
	}
	c, err := p.Limit(h.j, task.Limits{Memory: 16 << 20, CPU: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Limited(); got != (task.Limits{Memory: 16 << 20, CPU: 0.5}) {
		t.Errorf("limits %+v", got)
	}
	if n := <-kills; n < 1 {
		t.Errorf("%d kills", n)
	}
	if seen, err := c.Restore(); err != nil || seen.Kills == 0 {
		t.Errorf("%+v, %v", seen, err)
	}
	if got := p.Limited(); got != was {
		t.Errorf("restored to %+v", got)
	}
	if c, err = p.Limit(h.j, task.Limits{Memory: 512 << 20}); err != nil { // upwards, where the order matters
		t.Fatal(err)
	}
	if got := p.Limited(); got.Memory != 512<<20 {
		t.Errorf("limits %+v", got)
	}
	if _, err := p.Limit(h.j, task.Limits{Processes: 5}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "has no controller pids") {
		t.Errorf("a controller that it has not: %v", err)
	}
	log, err := journal.Read(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Pending() {
		if e.Kind == kindLimit {
			if err := task.UndoOf(kindLimit, undoLimit, changed).Run(t.Context(), nil, e.Data); err != nil {
				t.Error(err)
			}
		}
	}
	if got := p.Limited(); got != was {
		t.Errorf("undone to %+v", got)
	}
	if _, err := c.Restore(); err != nil {
		t.Error(err)
	}
}

// Where this user may not limit memory, starting must be refused in words.
func TestMemoryLimit(t *testing.T) {
	h := newHarness(t)
	p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Command: sh("echo up; sleep 0.2; x=$(head -c 200000000 /dev/zero | tr '\\0' a); echo $x | wc -c; sleep 60"),
		Ready: task.Ready{Log: "^up$"}, Limits: task.Limits{Memory: 16 << 20}})
	var refused *Refusal
	if errors.As(err, &refused) {
		t.Logf("no cgroups here: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	dirs := p.(*Process).cgroup.dirs
	for _, d := range dirs {
		if b, err := os.ReadFile(filepath.Join(d, "cgroup.procs")); err != nil || len(b) == 0 {
			t.Errorf("%s is empty: %v", d, err)
		}
	}
	<-p.Exited()
	if status, expected := p.Exit(); !strings.HasSuffix(status, oomMark) || expected {
		t.Errorf("status %q, expected %v", status, expected)
	}
	if err := h.g.Stop(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if _, err := os.Stat(d); err == nil {
			t.Errorf("%s is left", d)
		}
	}
}

func TestSharedLimit(t *testing.T) {
	h := newHarness(t)
	var dirs []string
	for i := range 2 {
		p, err := h.g.Start(t.Context(), task.ProcessSpec{Name: "x", Replica: i, Command: []string{"sleep", "60"}, Limits: task.Limits{CPU: 0.5, Processes: 50, Group: "sut"}})
		var refused *Refusal
		if errors.As(err, &refused) {
			t.Logf("no cgroups here: %v", err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, p.(*Process).cgroup.dirs[0])
	}
	if dirs[0] != dirs[1] {
		t.Errorf("not shared: %v", dirs)
	}
	b, err := os.ReadFile(filepath.Join(dirs[0], "cgroup.procs"))
	if err != nil || len(strings.Fields(string(b))) != 2 {
		t.Errorf("%q, %v", b, err)
	}
}
