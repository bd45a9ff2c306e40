package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
)

// What a guard taints.
const (
	taintsTiming = "timing"
	taintsWork   = "work"
	taintsPasses = "passes" // everything that would pass: the target is the cause, so failures stand
)

// A judge collects guards of one run.
type judge struct {
	ix     *index
	run    *record.Run
	t      Thresholds
	m      Machine
	rates  []span
	sums   map[string]*loadSum // of headline, by load
	guards []record.Guard
}

// Guards says whether the measurement of a run can be trusted: each with what was seen and the threshold, in words, also
// where it held. Guards of a load carry its name. A run without a load has guards of the machine only.
func Guards(d *record.Data, t Thresholds, m Machine) []record.Guard {
	j := &judge{ix: newIndex(d), run: d.Run, t: t, m: m, rates: headlineSpans(d.Run.Phases)}
	if j.m.CPUs == 0 {
		j.m.CPUs = j.ix.cpusSeen()
	}
	for i := range d.Run.Loads {
		l := &d.Run.Loads[i]
		s := j.ix.sum(map[string]bool{l.Name: true}, spansOf(d.Run.Phases, func(record.Phase) bool { return true }))
		j.verified(l)
		j.answered(l, s)
		j.workers(l)
		j.connections(l)
		j.lacked(l, s)
		if len(l.Spec.Rate) > 0 {
			j.rate(l)
			j.lag(l)
			j.ownDelay(l)
		}
		j.generatorCPU(l)
		j.crossCheck(l)
		j.descriptors(l)
		j.ports(l)
	}
	j.toxics()
	j.otherFaults()
	j.changes()
	j.backends()
	j.clock()
	j.pinning()
	j.limits()
	j.foreign()
	j.length()
	return j.guards
}

func (j *judge) add(name, load string, ok bool, taints, format string, args ...any) {
	j.guards = append(j.guards, record.Guard{Name: name, Load: load, OK: ok, Taints: taints, Message: fmt.Sprintf(format, args...)})
}

// saw adds to the last guard what it saw in numbers.
func (j *judge) saw(s record.Seen) { j.guards[len(j.guards)-1].Seen = &s }

// backends says which replicas ended when nobody asked them to. Of a target that is a result, which its figures show.
func (j *judge) backends() {
	for _, p := range j.run.Processes {
		if p.Role == "backends" && p.Died != "" {
			j.add("backends", "", false, taintsWork, "a replica of a backend ended that nobody told to: %s", p.Died)
		}
	}
}

func (j *judge) clock() {
	step := math.Abs(j.run.Facts.ClockStep)
	j.add("clock", "", step <= j.t.ClockStep.Seconds(), taintsTiming,
		"the wall clock moved by %.1f ms against the monotonic clock (at most %v)", step*1000, j.t.ClockStep)
}

func (j *judge) pinning() {
	asked := 0
	for _, p := range j.run.Processes {
		if len(p.WantCPUs) == 0 {
			continue
		}
		asked++
		if !slices.Equal(slices.Sorted(slices.Values(p.CPUs)), slices.Sorted(slices.Values(p.WantCPUs))) {
			j.add("pinning", "", false, taintsTiming, "%s (replica %d) ran on %s, the plan asked for %s", p.Name, p.Replica, cpuList(p.CPUs), cpuList(p.WantCPUs))
			return
		}
	}
	if asked > 0 {
		j.add("pinning", "", true, taintsTiming, "all %d processes that the plan pins ran on the CPUs it asked for", asked)
	}
}

// limits says whether the processes that the plan limits were under these limits, as the kernel said when the run began.
func (j *judge) limits() {
	asked, words := 0, ""
	for _, p := range j.run.Processes {
		if p.WantLimits == nil {
			continue
		}
		asked++
		if words = p.Limits.Words(); !p.Limits.Holds(p.WantLimits) {
			j.add("limits", "", false, taintsWork, "%s (replica %d) was under these limits: %s; the plan asked for %s", p.Name, p.Replica, words, p.WantLimits.Words())
			return
		}
	}
	if asked > 0 {
		j.add("limits", "", true, taintsWork, "all %d processes that the plan limits were under their limits when the run began (the last one's: %s)", asked, words)
	}
}

// foreignShare is which share of the machine's CPUs went to what the plan did not start, in the headline window; ok is
// false if it is not known.
func (j *judge) foreignShare() (share float64, ok bool) {
	var tracks []*track
	for _, tr := range j.ix.tracks {
		if tr.series == "foreign_cpu" && tr.label == "" {
			tracks = append(tracks, tr)
		}
	}
	if len(tracks) == 0 || j.m.CPUs == 0 {
		return 0, false
	}
	_, v := between(j.rates)(valuesOf(tracks))
	if len(v) == 0 {
		return 0, false
	}
	return mean(v) / float64(j.m.CPUs), true
}

func (j *judge) foreign() {
	share, ok := j.foreignShare()
	if !ok {
		return
	}
	limit, taints, words := j.t.ForeignWarn, "", "above %s is worth a warning"
	if j.t.ForeignLimited {
		limit, taints, words = j.t.ForeignCPU, taintsTiming, "at most %s"
	}
	j.add("foreign-cpu", "", share <= limit, taints,
		"what the plan did not start%s used %s of the machine's CPUs ("+words+")", j.targetToo(), percent(share), percent(limit))
	j.saw(record.Seen{Foreign: share})
}

// targetToo says, behind what the plan did not start, that the target may be part of it: the plan started nothing of it.
func (j *judge) targetToo() string {
	if slices.ContainsFunc(j.run.Processes, func(p record.Process) bool {
		return !slices.Contains([]string{loadRole, backendsRole, "relays", "control"}, p.Role)
	}) {
		return ""
	}
	return " (which the target itself may be part of: it was running already)"
}

func (j *judge) length() {
	if len(j.rates) == 0 {
		j.add("length", "", false, taintsTiming, "no phase of the headline window was reached")
		return
	}
	s := length(j.rates)
	j.add("length", "", s >= j.t.Shortest.Seconds()-1e-6, taintsTiming, "the headline window lasted %.2f s (at least %v)", s, j.t.Shortest)
}

// cpusSeen is how many CPUs the host probe saw.
func (ix *index) cpusSeen() int {
	n := 0
	for _, tr := range ix.tracks {
		if tr.series == cpuBusy && tr.label != "" {
			n++
		}
	}
	return n
}

// cpuBusy is the host probe's series of each CPU, with labels cpu0, cpu1, ...
const cpuBusy = "cpu_busy"

// percent prints a share with as many digits as matter: two where it is near 0 or 100 %.
func percent(share float64) string {
	p := math.Round(share*10000) / 100
	if p >= 10 && p < 98 {
		p = math.Round(p)
	}
	return strconv.FormatFloat(p, 'f', -1, 64) + " %"
}

// cpuList prints CPUs as the plan writes them: 0-3,8.
func cpuList(cpus []int) string {
	if len(cpus) == 0 {
		return "all CPUs"
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(sorted); {
		k := i
		for k+1 < len(sorted) && sorted[k+1] == sorted[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[k]))
		}
		i = k + 1
	}
	if len(sorted) == 1 {
		return "CPU " + parts[0]
	}
	return "CPUs " + strings.Join(parts, ",")
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.4g ms", float64(d)/1e6)
}
