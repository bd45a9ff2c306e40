package probes

import (
	"fmt"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

// hostCPU tells the machine's CPU time apart.
//
// A CPU was busy when it was neither idle, nor waiting for a disk, nor taken by the hypervisor; idle time is measured by
// the kernel, the rest of /proc/stat is estimated by ticks, which a program that wakes with the tick can escape.
//
// Foreign is what is left of the busy time without the plan's trees, planrun, and the kernel's threads. Where the kernel
// accounts for interrupts apart (only then it has any time for them), theirs is no process's and is left out too;
// elsewhere it is part of what the interrupted processes used. Both sides are rounded to 10 ms, so it is kept from
// falling below zero.
type hostCPU struct {
	own    proctree.Tree
	before *proctree.Snapshot
	used   float64 // by own, at before
}

func (h *hostCPU) sample(snap *proctree.Snapshot, env *task.ProbeEnv) {
	before, used := h.before, h.used
	if before == snap {
		return
	}
	h.own.Update(snap, append(env.Busy(), env.Engine)...)
	h.before, h.used = snap, h.own.CPU().Total()
	t := max(0, env.Now-time.Since(snap.At).Seconds())
	emit := func(name, label string, v float64) {
		env.Emit(series.Point{T: t, Series: name, Label: label, V: v})
	}
	emit("context_switches", "", float64(snap.Host.ContextSwitches))
	if before == nil {
		return
	}

	span := snap.At.Sub(before.At).Seconds()
	var busy, irq, stolen float64
	for n, now := range snap.Host.CPU {
		was, ok := before.Host.CPU[n]
		if !ok {
			continue // it was plugged in
		}
		off := now.Idle - was.Idle + now.Iowait - was.Iowait
		steal := now.Steal - was.Steal
		one := min(1, max(0, 1-(off+steal)/span))
		emit("cpu_busy", fmt.Sprintf("cpu%d", n), one)
		busy += one
		stolen += max(0, steal/span)
		irq += (now.SoftIRQ - was.SoftIRQ + now.IRQ - was.IRQ) / span
	}
	if snap.Host.CPUTotal.IRQ == 0 {
		irq = 0
	}
	threads := max(0, snap.KernelThreads().Total()-before.KernelThreads().Total()) / span
	own := (h.used - used) / span
	emit("host_cpu", "", busy)
	emit("stolen_cpu", "", stolen)
	emit("kernel_threads_cpu", "", threads)
	emit("foreign_cpu", "", max(0, busy-irq-threads-own))
}
