package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

const loadRole = "load"

// generatorCPU says whether the load generator had the CPU it needed. Three readings show that it had not, in a closed
// loop too, where nothing is late by definition:
//
//   - it used nearly all of its CPUs;
//   - each CPU that it is pinned to has other processes of the plan pinned to it as well, and these CPUs were busy;
//   - in a closed loop, its threads were ready to run and waited for a CPU (the kernel's run delay). Of an open loop the
//     send lag says by how much, which is what matters there. Where they waited for nothing of the plan the machine was
//     too busy, which is a guard of its own.
func (j *judge) generatorCPU(l *record.Load) {
	spans := j.headline(l).spans
	used, seconds := growth(j.generator(l, "generator_cpu_s"), spans, true)
	if seconds <= 0 {
		used, seconds = growth(j.loadProcesses(), spans, true)
	}
	cpus := len(l.CPUs)
	if cpus == 0 {
		cpus = j.m.CPUs
	}
	if seconds <= 0 || cpus == 0 {
		j.add("generator-known", l.Name, false, taintsTiming, "nothing recorded the CPU time of load %s: the run was shorter than two samples of its workers, or they reported none", l.Name)
		return
	}
	own := used / seconds
	wait, known := j.waited(l, spans)
	ok, name, message := j.hadCPU(l, own, cpus, wait, known)
	j.add(name, l.Name, ok, taintsTiming, "%s", message)
	j.saw(record.Seen{Cores: own, CPUs: cpus, Waited: wait})
}

// hadCPU judges what a load used of its CPUs, and of the time waited for one, if that is known: as which guard, and in words.
func (j *judge) hadCPU(l *record.Load, own float64, cpus int, wait float64, known bool) (ok bool, guard, message string) {
	const name = "generator-cpu"
	share := own / float64(cpus)
	sharers := j.sharers(l)
	where := cpuList(l.CPUs)

	if together := j.pinnedTogether(l); len(together) > 0 {
		if busy, ok := j.busy(l); ok && busy > j.t.GeneratorShared {
			return false, name, fmt.Sprintf("the load generator was the bottleneck: load %s shares %s with %s, busy for %s of the time (at most %s)",
				l.Name, where, strings.Join(together, ", "), percent(busy), percent(j.t.GeneratorShared))
		}
	}
	closed := len(l.Spec.Rate) == 0
	spins := !closed && l.Spec.Pacing != "economical"
	if !spins && share > j.t.GeneratorCPU {
		return false, name, fmt.Sprintf("the load generator was the bottleneck: load %s used %.2f of its %s (%s; at most %s)",
			l.Name, own, plural.Of(cpus, "CPU"), percent(share), percent(j.t.GeneratorCPU))
	}
	waited := ""
	if known {
		limit, whom := j.t.GeneratorWaitOwn, "processes that the plan did not start"+j.targetToo()
		if len(sharers) > 0 {
			limit, whom = j.t.GeneratorWait, strings.Join(sharers, ", ")
		}
		if len(sharers) == 0 && wait > 1-share {
			whom += " and its threads for each other" // others cannot have run for longer than it left them
		}
		had := fmt.Sprintf("load %s was ready to run on %s but had to wait for %s, %s of the time (at most %s)", l.Name, where, whom, percent(wait), percent(limit))
		switch {
		case closed && wait > limit && len(sharers) == 0 && 1-share < j.t.GeneratorWait: // little of the CPU was left for others to take
			return false, name, fmt.Sprintf("the load generator was the bottleneck: load %s used %.2f of its %s, and its own threads had to wait for each other on %s, %s of the time (at most %s)",
				l.Name, own, plural.Of(cpus, "CPU"), where, percent(wait), percent(limit))
		case closed && wait > limit && len(sharers) == 0:
			return false, "busy-machine", "this machine was too busy for the load generator: " + had
		case closed && wait > limit:
			return false, name, "the load generator was the bottleneck: " + had
		}
		waited = fmt.Sprintf(", and waited for a CPU %s of the time", percent(wait))
		if closed {
			waited += fmt.Sprintf(" (at most %s)", percent(limit))
		}
	}
	return true, name, fmt.Sprintf("load %s used %.2f of its %s (%s; at most %s)%s", l.Name, own, plural.Of(cpus, "CPU"), percent(share), percent(j.t.GeneratorCPU), waited)
}

// loadProcesses are the CPU counters of everything in the role of load.
func (j *judge) loadProcesses() []*track {
	g := group{match: func(role, _ string, _ int) bool { return role == loadRole }}
	return append(j.ix.tracksFor(g, cpuUser, false), j.ix.tracksFor(g, cpuKernel, false)...)
}

// sharers are the names of the plan's other processes that may run on the CPUs of a load.
func (j *judge) sharers(l *record.Load) []string {
	var out []string
	for _, p := range j.run.Processes {
		cpus := p.CPUs
		if len(cpus) == 0 {
			cpus = p.WantCPUs
		}
		if p.Role == loadRole || slices.Contains(out, p.Name) || !meet(l.CPUs, cpus) {
			continue
		}
		out = append(out, p.Name)
	}
	return out
}

// pinnedTogether are the names of the processes that are pinned to CPUs of a load, if they leave it none of its own.
func (j *judge) pinnedTogether(l *record.Load) []string {
	var names []string
	var taken []int
	for _, p := range j.run.Processes {
		if p.Role == loadRole || len(p.CPUs) == 0 || !meet(l.CPUs, p.CPUs) {
			continue
		}
		taken = append(taken, p.CPUs...)
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	if len(l.CPUs) == 0 || slices.ContainsFunc(l.CPUs, func(c int) bool { return !slices.Contains(taken, c) }) {
		return nil
	}
	return names
}

// meet reports whether two lists of CPUs share one; an empty one is all CPUs.
func meet(a, b []int) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}

// busy is how busy the CPUs of a load were, as the host probe saw them, or if it did not as the plan's processes on them
// used them.
func (j *judge) busy(l *record.Load) (float64, bool) {
	sum, n := 0.0, 0
	for _, tr := range j.ix.tracks {
		if tr.series != cpuBusy || !slices.ContainsFunc(l.CPUs, func(c int) bool { return tr.label == fmt.Sprintf("cpu%d", c) }) {
			continue
		}
		if _, v := within(tr.t, tr.v, j.headline(l).spans); len(v) > 0 {
			sum, n = sum+mean(v), n+1
		}
	}
	if n > 0 {
		return sum / float64(n), true
	}
	used, seconds := 0.0, 0.0
	for _, p := range j.run.Processes {
		if len(p.CPUs) == 0 || slices.ContainsFunc(p.CPUs, func(c int) bool { return !slices.Contains(l.CPUs, c) }) {
			continue
		}
		g := group{match: func(_, source string, replica int) bool { return source == p.Name && replica == p.Replica }}
		tracks := append(j.ix.tracksFor(g, cpuUser, false), j.ix.tracksFor(g, cpuKernel, false)...)
		u, s := growth(tracks, j.headline(l).spans, true)
		used, seconds = used+u, max(seconds, s)
	}
	if seconds <= 0 {
		return 0, false
	}
	return used / seconds / float64(len(l.CPUs)), true
}

// waited is the share of the time during which threads of a load's workers were ready to run without a CPU, for each
// worker.
func (j *judge) waited(l *record.Load, spans []span) (float64, bool) {
	tracks := j.generator(l, "generator_run_wait_s")
	waited, seconds := growth(tracks, spans, true)
	if seconds <= 0 {
		return 0, false
	}
	return min(1, waited/seconds/float64(len(tracks))), true // several threads can wait at once
}
