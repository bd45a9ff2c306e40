package probes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/procfs"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

var hostKind = kind("host",
	`This machine: busy CPUs, CPU that went to what the plan did not start, how much work a CPU does in its time, the kernel's
TCP counters, memory and clock.
Figures of CPU are over the time since the last sample, so the first sample has none.`,
	"", func() *host { return &host{} })

type host struct {
	pace

	cpus  hostCPU
	speed hostSpeed
	clock *time.Duration // wall clock minus monotonic clock at the first sample
	said  said
}

func (h *host) Produces() []series.SeriesDesc {
	timing, count := series.Timing, series.Count
	return []series.SeriesDesc{
		{Name: "cpu_busy", Unit: "cores", Shape: series.Gauge, Class: timing, Doc: "share of one CPU that was not idle; its label is cpuN"},
		{Name: "host_cpu", Unit: "cores", Shape: series.Gauge, Class: timing, Doc: "busy CPUs, all together"},
		{Name: "foreign_cpu", Unit: "cores", Shape: series.Gauge, Class: timing, Doc: "busy CPUs beyond the plan's processes, planrun itself and the kernel's own threads"},
		{Name: "kernel_threads_cpu", Unit: "cores", Shape: series.Gauge, Class: timing, Doc: "CPUs used by the kernel's own threads"},
		{Name: "stolen_cpu", Unit: "cores", Shape: series.Gauge, Class: timing, Doc: "CPUs that the hypervisor gave to others while this machine wanted them"},
		{Name: "host_speed", Unit: "pieces/ms", Shape: series.Gauge, Class: count, Doc: "a fixed piece of work (system calls, hashing, memory) once a second on the CPUs that the target is pinned to: pieces for each ms of CPU time. It falls when something outside slows this machine down"},
		{Name: "listen_overflows", Shape: series.Counter, Class: count, Doc: "connections refused because an accept queue was full"},
		{Name: "listen_drops", Shape: series.Counter, Class: count, Doc: "connections dropped before they were accepted, overflows included"},
		{Name: "syn_retransmits", Shape: series.Counter, Class: count, Doc: "SYN and SYN+ACK packets sent again"},
		{Name: "tcp_retransmits", Shape: series.Counter, Class: count, Doc: "TCP segments sent again"},
		{Name: "time_wait", Shape: series.Gauge, Class: count, Doc: "sockets in TIME_WAIT"},
		{Name: "tcp_sockets", Shape: series.Gauge, Class: count, Doc: "TCP sockets in use (IPv4)"},
		{Name: "mem_free_mib", Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "memory that can be had without swapping (MemAvailable)"},
		{Name: "load1", Shape: series.Gauge, Class: timing, Doc: "load average of one minute"},
		{Name: "context_switches", Shape: series.Counter, Class: timing, Doc: "context switches of all CPUs"},
		{Name: "clock_step_s", Unit: "s", Shape: series.Gauge, Class: timing, Doc: "how far the wall clock has moved against the monotonic clock since the first sample"},
		gapsDesc,
	}
}

func (h *host) Sample(_ context.Context, env *task.ProbeEnv) error {
	h.step("host", env)
	emit := func(name, label string, v float64) {
		env.Emit(series.Point{T: env.Now, Series: name, Label: label, V: v})
	}
	fs, err := proctree.FS()
	if err != nil {
		return h.said.first(fmt.Errorf("opening /proc: %w", err))
	}
	snap, err := scans.Get(min(shareFor, h.Every/2))
	if err == nil {
		h.cpus.sample(snap, env)
	}
	return h.said.first(err, tcp(fs, emit), sockets(fs, emit), memory(fs, emit), load(fs, emit), h.clockStep(emit), h.speed.sample(env))
}

// clockStep emits how far the wall clock has moved.
func (h *host) clockStep(emit func(string, string, float64)) error {
	d := clockDifference()
	if h.clock == nil {
		h.clock = &d
	}
	emit("clock_step_s", "", (d - *h.clock).Seconds())
	return nil
}

// processStart anchors the monotonic clock.
var processStart = time.Now()

// clockDifference is the wall clock minus the monotonic clock, up to a constant. Of several readings the one is taken
// during which the least time passed, for the sampler may lose its CPU between the two clocks.
func clockDifference() time.Duration {
	var best, least time.Duration
	for i := range 5 {
		before := time.Since(processStart)
		wall := time.Duration(time.Now().UnixNano())
		after := time.Since(processStart)
		if took := after - before; i == 0 || took < least {
			least, best = took, wall-(before+after)/2
		}
		if least < 20*time.Microsecond {
			break
		}
	}
	return best
}

// tcp emits counters of this network namespace, since it was made.
func tcp(fs procfs.FS, emit func(string, string, float64)) error {
	self, err := fs.Self()
	if err != nil {
		return fmt.Errorf("reading TCP counters: %w", err)
	}
	ext, err := self.Netstat()
	if err != nil {
		return fmt.Errorf("reading TCP counters: %w", err)
	}
	snmp, err := self.Snmp()
	if err != nil {
		return fmt.Errorf("reading TCP counters: %w", err)
	}
	var missing error
	for _, c := range []struct {
		name  string
		field string
		value *float64
	}{
		{"listen_overflows", "ListenOverflows", ext.ListenOverflows},
		{"listen_drops", "ListenDrops", ext.ListenDrops},
		{"syn_retransmits", "TCPSynRetrans", ext.TCPSynRetrans},
		{"tcp_retransmits", "RetransSegs", snmp.RetransSegs},
	} {
		if c.value == nil {
			missing = errors.Join(missing, fmt.Errorf("the kernel does not count %s, so there is no series %s", c.field, c.name))
			continue
		}
		emit(c.name, "", *c.value)
	}
	return missing
}

func sockets(fs procfs.FS, emit func(string, string, float64)) error {
	st, err := fs.NetSockstat()
	if err != nil {
		return fmt.Errorf("reading socket counts: %w", err)
	}
	for _, p := range st.Protocols {
		if p.Protocol != "TCP" {
			continue
		}
		emit("tcp_sockets", "", float64(p.InUse))
		if p.TW == nil {
			return errors.New("the kernel does not count sockets in TIME_WAIT")
		}
		emit("time_wait", "", float64(*p.TW))
		return nil
	}
	return errors.New("the kernel does not count TCP sockets")
}

func memory(fs procfs.FS, emit func(string, string, float64)) error {
	m, err := fs.Meminfo()
	if err != nil {
		return fmt.Errorf("reading free memory: %w", err)
	}
	if m.MemAvailableBytes == nil {
		return errors.New("the kernel does not say how much memory is available")
	}
	emit("mem_free_mib", "", float64(*m.MemAvailableBytes)/mib)
	return nil
}

func load(fs procfs.FS, emit func(string, string, float64)) error {
	l, err := fs.LoadAvg()
	if err != nil {
		return fmt.Errorf("reading the load average: %w", err)
	}
	emit("load1", "", l.Load1)
	return nil
}
