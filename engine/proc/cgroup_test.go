package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	two := cgroupHome{v2: "/cg", v2Has: []string{"memory", "cpu", "pids"}}
	all := task.Limits{Memory: 1 << 20, CPU: 1.5, Processes: 7}
	w, err := cgroupWrites(two, all)
	if err != nil || len(w) != 1 || w[0].enable != "+memory +cpu +pids" || w[0].files[2] != (cgroupFile{name: "cpu.max", value: "150000 100000"}) {
		t.Errorf("%+v, %v", w, err)
	}
	w, err = cgroupWrites(cgroupHome{v1: map[string]string{"memory": "/m", "cpu": "/c", "pids": "/p"}}, all)
	if err != nil || len(w) != 3 || w[0].dir != "/m" || w[1].files[1] != (cgroupFile{name: "cpu.cfs_quota_us", value: "150000"}) {
		t.Errorf("%+v, %v", w, err)
	}
	for _, tc := range []struct {
		home cgroupHome
		l    task.Limits
		want string
	}{
		{cgroupHome{}, task.Limits{Memory: 1}, "limits: memory cannot be limited: the kernel offers no such cgroup controller here"},
		{cgroupHome{v2: "/cg"}, task.Limits{CPU: 1}, "limits: cpu cannot be limited"},
		{two, task.Limits{Memory: 1, IgnoreSocketBuffers: true}, "version 2, which always count them"},
	} {
		_, err := cgroupWrites(tc.home, tc.l)
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
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
