package probes

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

var processKind = kind("process",
	`CPU, memory, descriptors and threads of processes. Each process counts with its whole tree (the workers of an nginx
master), found by one scan of /proc at each sample; a descendant stays with it when its parent ends. What ended members had
used stays in the sums, so that counters never go backwards, also across a restart. planrun's own engine is the process
"planrun" of role "control", without what it started. A process that is seen for the first time has counted since it began.`,
	"of", func() *process { return &process{Threads: 64} })

type process struct {
	Of      string `yaml:"of" doc:"the name of a process, or a role; left out: all"`
	Threads int    `yaml:"threads" default:"64" min:"0" max:"4096" doc:"how many threads of each process get their CPU time recorded one by one, those first seen; the rest is the label other; 0 records none"`
	pace

	watched map[source]*watched
	self    watched // the engine
	said    said
}

// A source is one replica of a process, whatever its process id is at the time.
type source struct {
	name    string
	replica int
}

func (s source) compare(o source) int {
	return cmp.Or(strings.Compare(s.name, o.name), s.replica-o.replica)
}

// watched is what is kept of a source between samples.
type watched struct {
	role    string
	tree    proctree.Tree
	peak    int64
	threads map[thread]*counted
	others  float64
}

func (p *process) Produces() []series.SeriesDesc {
	timing, count := series.Timing, series.Count
	d := []series.SeriesDesc{
		{Name: "cpu_user_s", Unit: "s", Shape: series.Counter, Class: timing, Doc: "CPU time in user space"},
		{Name: "cpu_kernel_s", Unit: "s", Shape: series.Counter, Class: timing, Doc: "CPU time in the kernel"},
		{Name: "rss_mib", Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "resident memory; pages shared within a tree count for each of its processes"},
		{Name: "rss_peak_mib", Unit: "MiB", Shape: series.Gauge, Class: count, Doc: "highest resident memory since the processes began, as the kernel kept it (VmHWM), summed over the tree"},
		{Name: "fds", Shape: series.Gauge, Class: count, Doc: "open file descriptors"},
		{Name: "threads", Shape: series.Gauge, Class: count, Doc: "threads"},
		{Name: "processes", Shape: series.Gauge, Class: count, Doc: "processes of the tree"},
		gapsDesc,
	}
	if p.Threads > 0 {
		d = append(d, series.SeriesDesc{Name: "thread_cpu_s", Unit: "s", Shape: series.Counter, Class: timing,
			Doc: "CPU time of one thread since it got its label, name/thread-id; the label other is all the rest of the tree"})
	}
	return d
}

// Fresh implements task.Fresh.
func (p *process) Fresh() task.Probe {
	return &process{Of: p.Of, Threads: p.Threads, pace: pace{Every: p.Every}}
}

func (p *process) Sample(ctx context.Context, env *task.ProbeEnv) error {
	p.step("process", env)
	snap, err := scans.Get(min(shareFor, p.Every/2))
	if err != nil {
		return p.said.first(err)
	}
	t := max(0, env.Now-time.Since(snap.At).Seconds())
	if p.watched == nil {
		p.watched = make(map[source]*watched)
	}

	roots := make(map[source][]int)
	for _, pr := range pick(env.Processes.All(), p.Of) {
		s := source{pr.Name(), pr.Replica()}
		if p.watched[s] == nil {
			p.watched[s] = &watched{role: pr.Role(), threads: make(map[thread]*counted)}
		}
		if !over(pr) {
			roots[s] = append(roots[s], pr.PID())
		}
	}
	engine, err := p.engine(snap, env, t)
	if len(p.watched) == 0 && !engine && p.Of != "" {
		return p.said.once("nobody", nobody(p.Of, env))
	}

	errs := []error{err}
	for _, s := range slices.SortedFunc(maps.Keys(p.watched), source.compare) {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := p.watched[s]
		emit := func(name, label string, v float64) {
			env.Emit(series.Point{T: t, Series: name, Source: s.name, Replica: s.replica, Role: w.role, Label: label, V: v})
		}
		errs = append(errs, w.sample(snap, roots[s], p.Threads, emit)...)
	}
	return p.said.first(errs...)
}

// sample updates one tree and emits it. The counters of a tree that ended are still emitted, its gauges are not.
func (w *watched) sample(snap *proctree.Snapshot, roots []int, bound int, emit func(name, label string, v float64)) (errs []error) {
	live := w.tree.Update(snap, roots...)
	cpu := w.tree.CPU()
	emit("cpu_user_s", "", cpu.User)
	emit("cpu_kernel_s", "", cpu.Kernel)
	if len(live) > 0 {
		var rss int64
		var threads int
		for _, m := range live {
			rss += m.RSS
			threads += m.Threads
		}
		emit("rss_mib", "", float64(rss)/mib)
		emit("threads", "", float64(threads))
		emit("processes", "", float64(len(live)))
		errs = append(errs, w.peaks(live, emit), descriptors(live, emit))
	}
	if bound > 0 {
		errs = append(errs, w.byThread(live, bound, cpu.Total(), emit))
	}
	return errs
}

// peaks emits the largest sum of high-water marks seen so far.
func (w *watched) peaks(live []*proctree.Process, emit func(string, string, float64)) error {
	var sum int64
	for _, m := range live {
		if m.Zombie {
			continue
		}
		n, err := proctree.PeakRSS(m.PID)
		if proctree.Gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		sum += n
	}
	w.peak = max(w.peak, sum)
	if w.peak > 0 {
		emit("rss_peak_mib", "", float64(w.peak)/mib)
	}
	return nil
}

func descriptors(live []*proctree.Process, emit func(string, string, float64)) error {
	var sum, read int
	for _, m := range live {
		if m.Zombie {
			continue
		}
		n, err := proctree.Descriptors(m.PID)
		if proctree.Gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		sum, read = sum+n, read+1
	}
	if read > 0 {
		emit("fds", "", float64(sum))
	}
	return nil
}

// engine emits planrun's own process, without what it started, and reports whether it was asked for.
func (p *process) engine(snap *proctree.Snapshot, env *task.ProbeEnv, t float64) (bool, error) {
	me := snap.Get(env.Engine)
	if me == nil || p.Of != "" && p.Of != "control" && p.Of != "planrun" {
		return false, nil
	}
	emit := func(name, _ string, v float64) {
		env.Emit(series.Point{T: t, Series: name, Source: "planrun", Role: "control", V: v})
	}
	emit("cpu_user_s", "", me.Own.User)
	emit("cpu_kernel_s", "", me.Own.Kernel)
	emit("rss_mib", "", float64(me.RSS)/mib)
	emit("threads", "", float64(me.Threads))
	emit("processes", "", 1)
	return true, errors.Join(p.self.peaks([]*proctree.Process{me}, emit), descriptors([]*proctree.Process{me}, emit))
}
