package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// Series of the process probe that become metrics in ways of their own.
const (
	cpuUser   = "cpu_user_s"
	cpuKernel = "cpu_kernel_s"
	threadCPU = "thread_cpu_s"
	rssPeak   = "rss_peak_mib"
	otherRest = "other" // the label of the threads that are not listed one by one
)

// processSeries are the series that every process has, whatever else a probe samples.
var processSeries = []series.SeriesDesc{
	{Name: cpuUser, Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "CPU time in user space"},
	{Name: cpuKernel, Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "CPU time in the kernel"},
	{Name: threadCPU, Unit: "s", Shape: series.Counter, Class: series.Timing, Doc: "CPU time of one thread"},
	{Name: rssPeak, Unit: "MiB", Shape: series.Gauge, Class: series.Count, Doc: "highest resident memory since the processes began, as the kernel kept it"},
	{Name: "rss_mib", Unit: "MiB", Shape: series.Gauge, Class: series.Count, Doc: "resident memory"},
	{Name: "fds", Shape: series.Gauge, Class: series.Count, Doc: "open file descriptors"},
	{Name: "threads", Shape: series.Gauge, Class: series.Count, Doc: "threads"},
	{Name: "processes", Shape: series.Gauge, Class: series.Count, Doc: "processes of the tree"},
}

// cpuParts are the figures of CPU time and the counters that they are made of.
var cpuParts = []struct {
	name, doc string
	of        []string
}{
	{"cpu_cores", "CPUs in use", []string{cpuUser, cpuKernel}},
	{"cpu_user_cores", "CPUs in use, in user space", []string{cpuUser}},
	{"cpu_kernel_cores", "CPUs in use, in the kernel", []string{cpuKernel}},
}

// processDescs describe the metrics of a role or process, without its name.
func processDescs() []series.Desc {
	var out []series.Desc
	for _, c := range cpuParts {
		out = append(out,
			desc(c.name, "cores", series.Lower, series.Median, series.Timing, c.doc+": CPU time in the window by its length"),
			desc(c.name+"_mean", "cores", series.Lower, series.Median, series.Timing, "the same as "+c.name),
			desc(c.name+"_max", "cores", series.Lower, series.Max, series.Timing, c.doc+": the most between two samples"),
			desc(c.name+"_last", "cores", series.Lower, series.Median, series.Timing, c.doc+": between the last two samples"))
	}
	return append(out,
		desc("cpu_us_per_req", "us", series.Lower, series.Median, series.Timing, "CPU time for each ok request of the headline loads"),
		desc("busiest_thread_cores", "cores", series.Lower, series.Median, series.Timing, "CPU of the busiest thread of those that are recorded one by one"),
		desc(rssPeak, "MiB", series.Lower, series.Max, series.Count, "the kernel's own high-water mark of resident memory, as last read in the window; an earlier scenario on the same processes may have set it"),
		desc("restarts", "", series.Lower, series.Sum, series.Count, "restarts of its processes"),
		desc("exits", "", series.Lower, series.Sum, series.Count, "processes of its that ended by themselves"),
	)
}

// A group is the processes whose tracks one set of metrics is of.
type group struct {
	prefix string // "sut_"; "" in the window of a replica
	match  func(role, source string, replica int) bool
	// watched says whether the engine itself watched such a process, for counts of events.
	watched bool
}

// groups are the roles and processes of a run, or the one replica of a window.
func (ix *index) groups(w window) []group {
	if w.process != "" {
		return []group{{"", func(_, s string, r int) bool { return s == w.process && r == w.replica }, true}}
	}
	roles, names := map[string]bool{}, map[string]bool{}
	for _, p := range ix.d.Run.Processes {
		roles[p.Role], names[p.Name] = true, true
	}
	watched := func(m map[string]bool, k string) bool { return m[k] }
	wr, wn := clone(roles), clone(names)
	for _, tr := range ix.tracks {
		if tr.role != "" {
			roles[tr.role], names[tr.source] = true, true
		}
	}
	var out []group
	for _, role := range sortedKeys(roles) {
		if role != "" {
			out = append(out, group{Ident(role) + "_", func(r, _ string, _ int) bool { return r == role }, watched(wr, role)})
		}
	}
	for _, name := range sortedKeys(names) {
		if !roles[name] && name != "" { // a role wins over a process of the same name
			out = append(out, group{Ident(name) + "_", func(r, s string, _ int) bool { return r != "" && s == name }, watched(wn, name)})
		}
	}
	return out
}

func clone(m map[string]bool) map[string]bool {
	out := make(map[string]bool, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// tracksFor are the tracks of a series of a group; labelled says whether of its parts (threads) or of the whole.
func (ix *index) tracksFor(g group, name string, labelled bool) []*track {
	var out []*track
	for _, tr := range ix.tracks {
		if tr.series == name && (tr.label != "") == labelled && g.match(tr.role, tr.source, tr.replica) {
			out = append(out, tr)
		}
	}
	return out
}

// tracksOf are the tracks of a series of whatever source.
func (ix *index) tracksOf(name string) []*track {
	return slices.DeleteFunc(slices.Clone(ix.tracks), func(tr *track) bool { return tr.series != name })
}

// processes derives the metrics of roles and processes in a window.
func (ix *index) processes(w window, loads *loadSum, out *figures) {
	for _, g := range ix.groups(w) {
		for _, c := range cpuParts {
			ix.cpu(g, c.name, c.of, w, out)
		}
		if cores, ok := out.values[g.prefix+"cpu_cores"]; ok && w.process == "" && len(w.loads) > 0 {
			name := g.prefix + "cpu_us_per_req"
			if loads.counts.OK > 0 && loads.seconds > 0 {
				out.set(name, cores*1e6/(float64(loads.counts.OK)/loads.seconds))
			} else {
				out.missing(name, noSuccess)
			}
		} else if why := out.why[g.prefix+"cpu_cores"]; why != "" && w.process == "" && len(w.loads) > 0 {
			out.missing(g.prefix+"cpu_us_per_req", why)
		}
		ix.busiestThread(g, w, out)
		ix.peak(g, w, out)
		if g.watched {
			ix.happened(g, w, out)
		}
	}
}

func (ix *index) cpu(g group, name string, of []string, w window, out *figures) {
	name = g.prefix + name
	var tracks []*track
	for _, s := range of {
		tracks = append(tracks, ix.tracksFor(g, s, false)...)
	}
	if len(tracks) == 0 {
		if g.watched {
			out.missing(name, "no probe watched its CPU time")
		}
		return
	}
	used, seconds := growth(tracks, sampled(tracks, w.rates), true)
	if seconds <= 0 && name == loadRole+"_cpu_cores" { // its workers say it themselves, also when they begin and end
		workers := ix.workersCPU()
		used, seconds = growth(workers, sampled(workers, w.rates), true)
	}
	if seconds <= 0 {
		out.missing(name, tooFewSamples)
		return
	}
	out.set(name, used/seconds)
	out.set(name+"_mean", used/seconds)
	_, v := between(w.rates)(rates(tracks))
	if len(v) > 0 {
		out.set(name+"_max", maxOf(v))
		out.set(name+"_last", v[len(v)-1])
	}
}

// workersCPU are the CPU counters of all workers of the run's loads, as they read them themselves; nil unless each of them has
// two readings, since a sum without one of them would be too low.
func (ix *index) workersCPU() []*track {
	all := ix.tracksOf("generator_cpu_s")
	for _, l := range ix.d.Run.Loads {
		known := 0
		for _, tr := range all {
			if tr.source == l.Name && len(tr.t) >= 2 {
				known++
			}
		}
		if known < l.Workers {
			return nil
		}
	}
	return all
}

func (ix *index) busiestThread(g group, w window, out *figures) {
	name := g.prefix + "busiest_thread_cores"
	best, known, seen := 0.0, false, false
	for _, tr := range ix.tracksFor(g, threadCPU, true) {
		if tr.label == otherRest {
			continue
		}
		known = true
		one := []*track{tr}
		if used, seconds := growth(one, sampled(one, w.rates), true); seconds > 0 {
			best, seen = max(best, used/seconds), true
		}
	}
	switch {
	case seen:
		out.set(name, best)
	case known:
		out.missing(name, tooFewSamples)
	}
}

func (ix *index) peak(g group, w window, out *figures) {
	tracks := ix.tracksFor(g, rssPeak, false)
	if len(tracks) == 0 {
		return
	}
	_, v := between(w.rates)(valuesOf(tracks))
	if len(v) == 0 {
		out.missing(g.prefix+rssPeak, "no sample lies in this window")
		return
	}
	out.set(g.prefix+rssPeak, maxOf(v))
}

// happened counts events of the group's processes. Events carry the fields process, role and replica.
func (ix *index) happened(g group, w window, out *figures) {
	if len(w.counts) == 0 {
		return
	}
	restarts, exits := 0.0, 0.0
	for _, e := range ix.d.Events {
		role, _ := e.Fields["role"].(string)
		name, _ := e.Fields["process"].(string)
		if name == "" || !g.match(ix.roleOf(name, role), name, replicaOf(e)) || !inside(e.T, w.counts) {
			continue
		}
		switch e.Kind {
		case "restart":
			restarts++
		case "exit":
			exits++
		}
	}
	out.set(g.prefix+"restarts", restarts)
	out.set(g.prefix+"exits", exits)
}

func (ix *index) roleOf(process, role string) string {
	if role != "" {
		return role
	}
	for _, p := range ix.d.Run.Processes {
		if p.Name == process {
			return p.Role
		}
	}
	return ""
}

func replicaOf(e record.Event) int {
	switch n := e.Fields["replica"].(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

func inside(t float64, spans []span) bool {
	for _, s := range spans {
		if t >= s.from && t <= s.to {
			return true
		}
	}
	return false
}

func maxOf(v []float64) float64 {
	m := v[0]
	for _, x := range v {
		m = max(m, x)
	}
	return m
}

// Ident makes a name that expressions can use of a role, process or relay: lower case, and an underscore for whatever is
// no letter or digit.
func Ident(name string) string {
	var b strings.Builder
	for i, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r == '_', r >= '0' && r <= '9' && i > 0:
			b.WriteRune(r)
		case r >= '0' && r <= '9':
			fmt.Fprintf(&b, "_%c", r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}
