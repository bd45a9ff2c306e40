package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// An Offer is something that a plan may need. Detail says in words what there is, or why there is none.
type Offer struct {
	Feature string
	OK      bool
	Detail  string
}

// String is what environment.json holds: "yes", or "no: " with the reason.
func (o Offer) String() string {
	if o.OK {
		return "yes"
	}
	return "no: " + o.Detail
}

// Offers tries out what this machine offers to this process, in a fixed order. Trying leaves nothing behind.
func Offers() []Offer {
	offers := []Offer{
		cpus(),
		memory(),
		openFiles(),
		sourcePorts(),
		LimitMemory(),
		LimitCPU(),
		LimitProcesses(),
		Nftables(),
		networkNamespaces(),
		module("netem", "sch_netem", "NET_SCH_NETEM", "delay and loss in the kernel", unix.CAP_NET_ADMIN),
		module("IP_VS", "ip_vs", "IP_VS", "the kernel's own balancer", unix.CAP_NET_ADMIN),
		module("kernel TLS", "tls", "TLS", "TLS records in the kernel", -1),
		perf(),
		ioUring(),
	}
	return offers
}

func yes(feature, format string, args ...any) Offer {
	return Offer{feature, true, fmt.Sprintf(format, args...)}
}

func no(feature, format string, args ...any) Offer {
	return Offer{feature, false, fmt.Sprintf(format, args...)}
}

func cpus() Offer {
	allowed := Allowed()
	detail := fmt.Sprintf("%d (CPU %s)", len(allowed), List(allowed))
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if l, err := fs.LoadAvg(); err == nil {
			detail += fmt.Sprintf("; load average of the last minute %.2f", l.Load1)
			if free := float64(len(allowed)) - l.Load1; free < 1 {
				return no("free CPUs", "%s: something else keeps them busy", detail)
			}
		}
	}
	if len(allowed) < 2 {
		return no("free CPUs", "%s: the load generator and the target must share one, so timings are of both", detail)
	}
	return yes("free CPUs", "%s", detail)
}

func memory() Offer {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return no("free memory", "unknown: %v", err)
	}
	m, err := fs.Meminfo()
	if err != nil || m.MemAvailableBytes == nil || m.MemTotalBytes == nil {
		return no("free memory", "unknown: the kernel does not say (%v)", err)
	}
	free, total := *m.MemAvailableBytes>>20, *m.MemTotalBytes>>20
	if free < 256 {
		return no("free memory", "%d of %d MiB: too little for anything but small plans", free, total)
	}
	return yes("free memory", "%d of %d MiB", free, total)
}

func openFiles() Offer {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return no("open files", "unknown: %v", err)
	}
	detail := fmt.Sprintf("%s for each process (the hard limit; planrun raises the soft one), %s on the machine", limit(r.Max), sysctl("fs.file-max"))
	if r.Max < 10_000 {
		return no("open files", "%s: too few for 10,000 connections", detail)
	}
	return yes("open files", "%s", detail)
}

func sourcePorts() Offer {
	low, high, ok := portRange(sysctl("net.ipv4.ip_local_port_range"))
	if !ok {
		return no("source ports", "unknown: net.ipv4.ip_local_port_range cannot be read")
	}
	detail := fmt.Sprintf("%d for each source address and destination (%d to %d)", high-low+1, low, high)
	if reserved := sysctl("net.ipv4.ip_local_reserved_ports"); reserved != "" {
		detail += ", without the reserved " + reserved
	}
	if high-low+1 < 10_000 {
		return no("source ports", "%s: few, connections in TIME_WAIT may use them up", detail)
	}
	return yes("source ports", "%s", detail)
}

func portRange(s string) (low, high int, ok bool) {
	a, b, found := strings.Cut(s, " ")
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	return low, high, found && err1 == nil && err2 == nil && high >= low
}

// perf tries to count the time of this process, and its CPU cycles, which virtual machines often lack.
func perf() Offer {
	open := func(kind uint32, config uint64) error {
		attr := unix.PerfEventAttr{Type: kind, Config: config, Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
		attr.Size = uint32(unix.PERF_ATTR_SIZE_VER0)
		fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	level := sysctl("kernel.perf_event_paranoid")
	if err := open(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK); err != nil {
		return no("perf", "events cannot be opened: %v (kernel.perf_event_paranoid is %s)", err, level)
	}
	if err := open(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES); err != nil {
		return yes("perf", "software events only: no hardware counters here (%v)", err)
	}
	return yes("perf", "software and hardware events (kernel.perf_event_paranoid is %s)", level)
}

// ioUring makes the smallest ring and closes it.
func ioUring() Offer {
	var params [120]byte // struct io_uring_params
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
	if errno == 0 {
		unix.Close(int(fd))
		return yes("io_uring", "rings can be made")
	}
	why := error(errno)
	if errno == unix.ENOSYS {
		why = errors.New("the kernel has none, or a filter forbids it")
	}
	if off := sysctl("kernel.io_uring_disabled"); off != "" && off != "0" {
		why = fmt.Errorf("%w (kernel.io_uring_disabled is %s)", why, off)
	}
	return no("io_uring", "%v", why)
}

// networkNamespaces makes one for a child that ends at once. A thread of planrun's own would not do: the first thread of a
// process never ends, and its namespace is what /proc/self shows.
func networkNamespaces() Offer {
	if _, err := os.Stat("/proc/self/ns/net"); err != nil {
		return no("network namespaces", "the kernel has none: %v", err)
	}
	child := exec.Command("true")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if err := child.Run(); err != nil {
		return no("network namespaces", "making one: %v (needs CAP_SYS_ADMIN)", err)
	}
	return yes("network namespaces", "can be made")
}
