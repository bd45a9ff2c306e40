package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/record"
)

// sysctls are the settings that decide about connections, buffers and descriptors.
var sysctls = []string{
	"fs.file-max",
	"fs.nr_open",
	"kernel.io_uring_disabled",
	"kernel.perf_event_paranoid",
	"kernel.pid_max",
	"net.core.default_qdisc",
	"net.core.netdev_max_backlog",
	"net.core.rmem_max",
	"net.core.somaxconn",
	"net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_wmem",
	"vm.max_map_count",
	"vm.swappiness",
}

// Environment describes this machine. What a plan run adds (its token, plan, layout and programs) is left empty, and so
// is what cannot be found out.
func Environment() *record.Environment {
	host, _ := os.Hostname()
	e := &record.Environment{
		Version:  record.Version,
		BootID:   line("/proc/sys/kernel/random/boot_id"),
		Planrun:  Version(),
		Go:       runtime.Version(),
		Hostname: host,
		OS:       distribution(),
		Kernel:   kernel(),
		CPUModel: cpuModel(),
		CPUs:     len(Allowed()),
		CPUIDs:   Allowed(),
		Governor: governor(),
		NUMA:     numaNodes(),
		Virtual:  virtual(),
		Sysctls:  readSysctls(),
		Limits:   limits(),
		Offers:   map[string]string{},
	}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if mem, err := fs.Meminfo(); err == nil && mem.MemTotalBytes != nil {
			e.MemoryMiB = float64(*mem.MemTotalBytes) / (1 << 20)
		}
	}
	for _, o := range Offers() {
		e.Offers[o.Feature] = o.String()
	}
	return e
}

// Version is planrun's own version: the module's, with the commit and whether the tree was changed where the build knows.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown (built without module information)"
	}
	return versionOf(info)
}

// versionOf is the module's version; where that does not name the commit, with it, its time, and "+dirty" if the tree was
// changed since. What is no release and knows no commit, as under go run, says so.
func versionOf(info *debug.BuildInfo) string {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	v, commit := info.Main.Version, setting["vcs.revision"]
	commit = commit[:min(12, len(commit))]
	switch {
	case commit == "" && (v == "" || v == "(devel)"):
		return "(devel), built without a commit"
	case commit != "" && !strings.Contains(v, commit):
		v = strings.TrimSpace(v + " " + commit)
		if at := setting["vcs.time"]; at != "" {
			v += " of " + at
		}
	}
	if setting["vcs.modified"] == "true" && !strings.Contains(v, "dirty") {
		v += "+dirty"
	}
	return v
}

// line is the first line of a file, trimmed; empty if the file cannot be read.
func line(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(first)
}

// distribution is PRETTY_NAME of os-release(5).
func distribution() string {
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for l := range strings.Lines(string(b)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(l), "PRETTY_NAME="); ok {
				return strings.Trim(v, `"'`)
			}
		}
	}
	return runtime.GOOS
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return strings.Join([]string{unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:]), unix.ByteSliceToString(u.Machine[:])}, " ")
}

func cpuInfo() []procfs.CPUInfo {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	info, _ := fs.CPUInfo()
	return info
}

func cpuModel() string {
	info := cpuInfo()
	if len(info) == 0 {
		return ""
	}
	if info[0].ModelName != "" {
		return info[0].ModelName
	}
	return strings.TrimSpace(info[0].VendorID + " " + info[0].Model)
}

// governor is the frequency governor of the CPUs; several if they differ; empty if the machine has no such control.
func governor() string {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	var seen []string
	for _, f := range files {
		if g := line(f); g != "" && !slices.Contains(seen, g) {
			seen = append(seen, g)
		}
	}
	slices.Sort(seen)
	return strings.Join(seen, ", ")
}

// numaNodes is 1 on a machine whose kernel knows of none.
func numaNodes() int {
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	return max(1, len(nodes))
}

// virtual says in which kind of machine this one runs, as far as it shows; empty on bare metal.
func virtual() string {
	var found []string
	if info := cpuInfo(); len(info) > 0 && slices.Contains(info[0].Flags, "hypervisor") {
		found = append(found, "virtual machine")
	}
	// A hypervisor's own clock names it.
	clocks := line("/sys/devices/system/clocksource/clocksource0/available_clocksource")
	for _, h := range [][2]string{{"kvm-clock", "KVM"}, {"hyperv", "Hyper-V"}, {"xen", "Xen"}} {
		if strings.Contains(clocks, h[0]) {
			found = append(found, h[1])
		}
	}
	if vendor := strings.TrimSpace(line("/sys/class/dmi/id/sys_vendor") + " " + line("/sys/class/dmi/id/product_name")); vendor != "" && len(found) > 0 {
		found = append(found, vendor)
	}
	for _, mark := range [][2]string{{"/.dockerenv", "container (Docker)"}, {"/run/.containerenv", "container (Podman)"}} {
		if _, err := os.Stat(mark[0]); err == nil {
			found = append(found, mark[1])
		}
	}
	if c := line("/run/systemd/container"); c != "" {
		found = append(found, "container ("+c+")")
	}
	return strings.Join(found, ", ")
}

func readSysctls() map[string]string {
	out := make(map[string]string, len(sysctls))
	for _, name := range sysctls {
		if v := sysctl(name); v != "" {
			out[name] = v
		}
	}
	return out
}

func sysctl(name string) string {
	return strings.Join(strings.Fields(line("/proc/sys/"+strings.ReplaceAll(name, ".", "/"))), " ")
}

// limits are of this process: "1024 soft, 20000 hard"; sizes in bytes.
func limits() map[string]string {
	out := map[string]string{}
	for _, l := range []struct {
		name string
		id   int
	}{
		{"open files", unix.RLIMIT_NOFILE}, {"processes", unix.RLIMIT_NPROC}, {"locked memory", unix.RLIMIT_MEMLOCK},
		{"stack", unix.RLIMIT_STACK}, {"address space", unix.RLIMIT_AS},
	} {
		var r unix.Rlimit
		if unix.Getrlimit(l.id, &r) == nil {
			out[l.name] = fmt.Sprintf("%s soft, %s hard", limit(r.Cur), limit(r.Max))
		}
	}
	return out
}

func limit(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// Files is the hard limit of open files of this process, and of what it starts.
func Files() (uint64, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("reading the limit of open files: %w", err)
	}
	return r.Max, nil
}

// RaiseFiles raises the soft limit of open files of this process, and of what it starts from then on, to the hard one. It
// returns the limit that holds then. (The Go runtime raises its own, but hands the lower one on to child processes.)
func RaiseFiles() (uint64, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("reading the limit of open files: %w", err)
	}
	r.Cur = r.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("raising the limit of open files to %d: %w", r.Max, err)
	}
	return r.Cur, nil
}
