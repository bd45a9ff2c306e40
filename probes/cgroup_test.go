package probes

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3/cgroup1"

	"github.com/planrun/planrun/engine/task"
)

// ownCgroups makes cgroups of version 1 below the test's own and moves processes into them. Where that cannot be had,
// the reason is returned.
func ownCgroups(t *testing.T, limit int64) (join func(pid int), why error) {
	t.Helper()
	if _, ok := cgroupVersion().(version1); !ok {
		return nil, errors.New("this machine has no cgroups of version 1")
	}
	subsystems, err := cgroup1.Default()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, s := range subsystems {
		at, ok := s.(interface{ Path(string) string })
		if !ok || s.Name() != cgroup1.Cpu && s.Name() != cgroup1.Cpuacct && s.Name() != cgroup1.Memory {
			continue
		}
		path, err := cgroup1.PidPath(os.Getpid())(s.Name())
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(at.Path(path), "planrun-probes-"+strconv.Itoa(os.Getpid())+"-"+t.Name())
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			for range 100 { // a cgroup is busy for a moment after its last process
				if err = os.Remove(dir); err == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Error(err)
		})
		dirs = append(dirs, dir)
		if s.Name() == cgroup1.Memory {
			for _, f := range []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
					return nil, err
				}
			}
		}
	}
	return func(pid int) {
		for _, dir := range dirs {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}, nil
}

// Where cgroups can be made, their figures are those of the processes in them, kills included; where not, the probe must
// say so.
func TestCgroup(t *testing.T) {
	join, why := ownCgroups(t, 64<<20)
	f := burner(t, "app", "sut", "hot")
	b, c := newBench(f), &cgroup{Of: "sut", pace: pace{Every: time.Second}}
	pts, err := b.sample(t, c)
	for _, pt := range pts {
		if pt.Series != gapsDesc.Name {
			t.Errorf("a process without a cgroup of its own has %+v", pt)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "cgroup") {
		t.Errorf("a process without a cgroup of its own: %v", err)
	}
	if why != nil {
		t.Logf("only the case without cgroups was tested: %v", why)
		return
	}

	join(f.PID())
	pts = b.until(t, c, cgCPU, "app", "", 0.1)
	if cpu := value(t, pts, cgCPUUser, "app", "") + value(t, pts, cgCPUKernel, "app", ""); cpu > 5 || cpu < 0.02 {
		t.Errorf("user and kernel time %v s", cpu)
	}
	value(t, pts, cgThrottled, "app", "")
	without, with := value(t, pts, cgNoSockets, "app", ""), value(t, pts, cgMemory, "app", "")
	if without > 64 || with < without || value(t, pts, cgMemoryPeak, "app", "") < without || value(t, pts, cgSockets, "app", "") != with-without {
		t.Errorf("memory %v MiB, without socket buffers %v", with, without)
	}
	if pts[len(pts)-1].Role != "sut" {
		t.Errorf("without its role: %+v", pts[len(pts)-1])
	}

	kills := value(t, pts, cgOOM, "app", "")
	eater := exec.Command("sh", "-c", "read go && exec tail /dev/zero") // tail keeps all of a line that never ends
	in, err := eater.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := eater.Start(); err != nil {
		t.Fatal(err)
	}
	join(eater.Process.Pid)
	in.Write([]byte("go\n"))
	if err := eater.Wait(); err == nil {
		t.Fatal("it took all memory and was not killed")
	}
	b.until(t, c, cgOOM, "app", "", kills+1)

	f.cmd.Process.Kill()
	<-f.exited
	if got := value(t, b.must(t, c), cgOOM, "app", ""); got < kills+1 {
		t.Errorf("%v kills after the last process ended, %v before", got, kills+1)
	}
	b.monotonic(t, c)
}

// Version 2, from files as the kernel writes them.
func TestCgroupVersion2(t *testing.T) {
	mount := t.TempDir()
	write := func(file, text string) {
		path := filepath.Join(mount, "app", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.controllers", "\n")
	write("cpu.stat", "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n")
	v := version2{mount: mount}
	got, err := v.read("/app")
	if err == nil || !strings.Contains(err.Error(), "cpu, memory") {
		t.Errorf("without controllers: %v", err)
	}
	want := map[string]float64{cgCPU: 3, cgCPUUser: 2, cgCPUKernel: 1}
	check := func() {
		t.Helper()
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s is %v, want %v", name, got[name], v)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s is %v, which nothing said", name, got[name])
			}
		}
	}
	check()

	write("cgroup.controllers", "cpu memory pids\n")
	write("cpu.stat", "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\nnr_periods 20\nnr_throttled 5\nthrottled_usec 250000\n")
	write("memory.current", "10485760\n")
	write("memory.stat", "anon 4096\nsock 2097152\n")
	write("memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\n")
	if got, err = v.read("/app"); err != nil {
		t.Fatal(err)
	}
	want = map[string]float64{cgCPU: 3, cgCPUUser: 2, cgCPUKernel: 1, cgThrottled: 0.25, cgThrottles: 5, cgMemory: 10, cgSockets: 2, cgNoSockets: 8, cgOOM: 1}
	check() // memory.peak is not there, as on older kernels
	write("memory.peak", "20971520\n")
	want[cgMemoryPeak] = 20
	if got, err = v.read("/app"); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := v.read("/gone"); err == nil {
		t.Error("a cgroup that is not there was read")
	}
}

func TestWhose(t *testing.T) {
	one, two := &fake{name: "a", role: "sut", replica: 1}, &fake{name: "b", role: "sut"}
	if got := whose([]task.Process{one}); got.Source != "a" || got.Replica != 1 || got.Role != "sut" {
		t.Errorf("%+v", got)
	}
	if got := whose([]task.Process{one, two}); got.Source != "a+b" || got.Replica != 0 || got.Role != "sut" {
		t.Errorf("%+v", got)
	}
	two.role = "backends"
	if got := whose([]task.Process{one, two}); got.Role != "" {
		t.Errorf("%+v", got)
	}
}
