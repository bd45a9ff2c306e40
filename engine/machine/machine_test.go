package machine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEnvironmentSaysWhatTheSystemSays(t *testing.T) {
	e := Environment()
	want := func(name, got string, command ...string) {
		t.Helper()
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		if w := strings.TrimSpace(string(out)); w == "" || !strings.Contains(got, w) {
			t.Errorf("%s is %q, the system says %q", name, got, w)
		}
	}
	want("kernel", e.Kernel, "uname", "-r")
	want("boot id", e.BootID, "cat", "/proc/sys/kernel/random/boot_id")
	want("host name", e.Hostname, "uname", "-n")
	want("CPUs", strconv.Itoa(e.CPUs), "nproc")
	want("the CPUs that may be used", List(e.CPUIDs), "awk", "/^Cpus_allowed_list/ {print $2}", "/proc/self/status")
	want("system", e.OS, "sh", "-c", ". /etc/os-release; echo $PRETTY_NAME")
	want("open files", e.Limits["open files"], "sh", "-c", "ulimit -Hn")
	want("somaxconn", e.Sysctls["net.core.somaxconn"], "cat", "/proc/sys/net/core/somaxconn")
	if e.Go != runtime.Version() || e.Planrun == "" || e.NUMA < 1 || e.CPUModel == "" {
		t.Errorf("%+v", e)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if total := float64(info.Totalram) * float64(info.Unit) / (1 << 20); e.MemoryMiB < 0.98*total || e.MemoryMiB > 1.02*total {
		t.Errorf("memory %.0f MiB, sysinfo says %.0f", e.MemoryMiB, total)
	}
	for feature, says := range e.Offers {
		if says != "yes" && (!strings.HasPrefix(says, "no: ") || len(says) < 10) {
			t.Errorf("%s: %q is neither yes nor a reason", feature, says)
		}
	}
	if len(e.Offers) < 10 {
		t.Errorf("only %d offers", len(e.Offers))
	}
}

// Trying things out leaves no descriptor, no thread in another namespace, and the same namespace as before.
func TestOffersLeaveNothing(t *testing.T) {
	namespace := func() string {
		s, err := os.Readlink("/proc/self/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	open := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	Offers()
	ns, fds := namespace(), open()
	for range 5 {
		for _, o := range Offers() {
			if o.Feature == "" || o.Detail == "" {
				t.Errorf("offer without words: %+v", o)
			}
		}
	}
	if namespace() != ns || open() != fds {
		t.Errorf("namespace %s, was %s; %d descriptors, were %d", namespace(), ns, open(), fds)
	}
}

// What is said of a right must be what happens when it is used.
func TestOffersAreTrue(t *testing.T) {
	for _, o := range Offers() {
		switch o.Feature {
		case "network namespaces":
			if unshare, err := exec.LookPath("unshare"); err == nil {
				if err := exec.Command(unshare, "-n", "true").Run(); (err == nil) != o.OK {
					t.Errorf("%+v, but unshare -n: %v", o, err)
				}
			}
		case "memory limits", "CPU limits":
			if !o.OK {
				continue
			}
			_, parent, _ := strings.Cut(o.Detail, "in ")
			dir := filepath.Join(parent, "planrun-test-"+strconv.Itoa(os.Getpid()))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Errorf("%+v, but %v", o, err)
				continue
			}
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestProgram(t *testing.T) {
	ctx := context.Background()
	sh := Program(ctx, "sh", []string{"sh", "-c", "echo one >&2; echo two; echo; echo three; yes | head -n 100000"})
	out, err := exec.Command("sha256sum", sh.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if sum, _, _ := strings.Cut(string(out), " "); sum != sh.SHA256 || !filepath.IsAbs(sh.Path) {
		t.Errorf("%+v, sha256sum says %s", sh, sum)
	}
	if sh.Version != "one\ntwo\n" {
		t.Errorf("version %q", sh.Version)
	}
	if p := Program(ctx, "no-such-program-here", nil); !strings.Contains(p.Missing, "no-such-program-here is not installed") || p.SHA256 != "" {
		t.Errorf("%+v", p)
	}
	if p := Program(ctx, "sh", []string{"false"}); !strings.Contains(p.Version, "exit status 1") {
		t.Errorf("%+v", p)
	}
	if p := Program(ctx, "", []string{"echo", "v1"}); p.Version != "v1" || p.Path != "" || p.Missing != "" {
		t.Errorf("%+v", p)
	}
}

func TestCheckLayout(t *testing.T) {
	for _, c := range []struct {
		name     string
		layout   map[string][]int
		problems []string
		warnings []string
	}{
		{name: "apart", layout: map[string][]int{"sut": {0, 1}, "load": {2, 3}}},
		{name: "absent", layout: map[string][]int{"sut": {0, 4, 5}}, problems: []string{"sut is to run on CPU 4-5, which this process may not use; there are CPUs 0-3"}},
		{name: "shared with load", layout: map[string][]int{"sut": {0, 1}, "load": {1}}, warnings: []string{
			"load and sut share CPU 1: the load generator and what it measures take CPU from each other, so latencies and rates are of both"}},
		{name: "shared with backends", layout: map[string][]int{"sut": {0, 1, 2}, "backends": {0, 2}}, warnings: []string{
			"backends and sut share CPU 0,2: the target has less CPU than its CPUs suggest"}},
		{name: "others", layout: map[string][]int{"control": {0}, "backends": {0}}},
	} {
		got := checkLayout(c.layout, []int{0, 1, 2, 3})
		if !reflect.DeepEqual(got.Problems, c.problems) || !reflect.DeepEqual(got.Warnings, c.warnings) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestRaiseFiles(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	n, err := RaiseFiles()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n != before.Max || strings.TrimSpace(string(out)) != strconv.FormatUint(n, 10) {
		t.Errorf("raised to %d of %d, a child has %s", n, before.Max, out)
	}
}

func TestPortRange(t *testing.T) {
	for in, want := range map[string][3]int{"32768 60999": {32768, 60999, 1}, "": {}, "5": {}, "9 5": {}, "a b": {}} {
		low, high, ok := portRange(in)
		if ok != (want[2] == 1) || ok && (low != want[0] || high != want[1]) {
			t.Errorf("%q: %d %d %v", in, low, high, ok)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, c := range []struct {
		module   string
		settings map[string]string
		want     string
	}{
		{"(devel)", nil, "(devel), built without a commit"},
		{"", nil, "(devel), built without a commit"},
		{"v1.2.3", nil, "v1.2.3"},
		{"(devel)", map[string]string{"vcs.revision": "0123456789abcdef", "vcs.time": "2026-11-30T19:00:00Z", "vcs.modified": "false"}, "(devel) 0123456789ab of 2026-11-30T19:00:00Z"},
		{"(devel)", map[string]string{"vcs.revision": "0123456789abcdef", "vcs.modified": "true"}, "(devel) 0123456789ab+dirty"},
		{"v0.0.0-20261130190000-0123456789ab+dirty", map[string]string{"vcs.revision": "0123456789abcdef", "vcs.time": "2026-11-30T19:00:00Z", "vcs.modified": "true"}, "v0.0.0-20261130190000-0123456789ab+dirty"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
		for k, v := range c.settings {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: k, Value: v})
		}
		if got := versionOf(info); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.module, c.settings, got, c.want)
		}
	}
}
