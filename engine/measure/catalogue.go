package measure

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// Known is what is known of the runs of a scenario before anything runs.
type Known struct {
	Loads     bool     // whether any headline load runs
	LoadNames []string // of all loads, for what their workers say of themselves
	Roles     []string // of processes: sut, backends, load, control
	Processes []string // their names
	// RoleOf gives the role of each process, by name. With it the series of a probe of a process are also those of its role,
	// and the other way round.
	RoleOf map[string]string
	Probes []Probe
	Values []series.Desc // of actions that record a number
	Faults bool          // whether something is broken, so that there is something to recover from
	Relays bool          // whether relays stand in the path
}

// A Probe is what a probe samples, and of what.
type Probe struct {
	Series []series.SeriesDesc
	Of     []string // names of processes, backends, relays, or roles; empty: every process, or the host
}

// perProcess are the series that the process probe gives of every process and role, by name.
func perProcess(name string) bool {
	return slices.ContainsFunc(processSeries, func(d series.SeriesDesc) bool { return d.Name == name })
}

// Produced are the metrics that the runs of a scenario will have, sorted by name. What only turns out during a run (the
// first request fails, nothing is ever due) may still be missing there.
func Produced(k Known) []series.Desc {
	byName := map[string]series.Desc{}
	add := func(prefix string, ds ...series.Desc) {
		for _, d := range ds {
			d.Name = prefix + d.Name
			if _, ok := byName[d.Name]; !ok {
				byName[d.Name] = d
			}
		}
	}
	add("", secondsDesc)
	if k.Loads {
		for _, m := range loadMetrics {
			add("", m.Desc)
		}
		if slices.Contains(k.Roles, backendsRole) {
			add("", backendConnsDesc)
		}
		if k.Faults {
			add("", recoveryDescs...)
		}
	}
	if k.Relays {
		add("", relaysLeftDesc)
	}
	for _, name := range k.LoadNames {
		for _, s := range GeneratorSeries {
			add(Ident(name)+"_", seriesMetrics(s)...)
		}
	}
	for _, prefix := range k.prefixes() {
		add(prefix, processDescs()...)
	}
	for _, p := range k.Probes {
		for _, s := range p.Series {
			for _, prefix := range k.prefixesOf(p, s) {
				add(prefix, seriesMetrics(s)...)
			}
		}
	}
	add("", k.Values...)
	out := make([]series.Desc, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		out = append(out, byName[name])
	}
	return out
}

// Describe describes a metric that a builtin load or a process of one of the roles can have.
func (k Known) Describe(name string) (series.Desc, bool) {
	k.Loads, k.Roles = true, append(slices.Clone(k.Roles), backendsRole)
	for _, d := range Produced(k) {
		if d.Name == name {
			return d, true
		}
	}
	return series.Desc{}, false
}

// prefixes are those of roles and processes.
func (k Known) prefixes() []string {
	var out []string
	for _, name := range append(slices.Clone(k.Roles), k.Processes...) {
		if p := Ident(name) + "_"; name != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func (k Known) prefixesOf(p Probe, s series.SeriesDesc) []string {
	switch {
	case perProcess(s.Name):
		return k.prefixes()
	case len(p.Of) == 0:
		return []string{""}
	}
	var out []string
	add := func(name string) {
		if p := Ident(name) + "_"; !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if s.Kept {
		out = append(out, "")
	}
	for _, of := range p.Of {
		add(of)
		for _, process := range sortedKeys(k.RoleOf) {
			switch role := k.RoleOf[process]; of {
			case process:
				add(role)
			case role:
				add(process)
			}
		}
	}
	return out
}

// ProducedLoad are the metrics of one load, as in load("NAME").p99_ms, sorted by name.
func ProducedLoad() []series.Desc {
	out := []series.Desc{secondsDesc}
	for _, m := range loadMetrics {
		out = append(out, m.Desc)
	}
	slices.SortFunc(out, func(a, b series.Desc) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// EventKinds are the kinds of events that a run may have.
var EventKinds = []string{"abort", "change", "exit", "fault", "note", "oom", "output", "phase", "probe", "reload", "replica", "restart"}

// ProducedReplica are the metrics of each replica of a process, as in replicas("NAME").cpu_cores_mean, sorted by name.
func ProducedReplica(k Known) []series.Desc {
	byName := map[string]series.Desc{}
	for _, d := range processDescs() {
		if d.Name != "cpu_us_per_req" {
			byName[d.Name] = d
		}
	}
	for _, p := range k.Probes {
		for _, s := range p.Series {
			for _, d := range seriesMetrics(s) {
				d.List = s.By
				byName[d.Name] = d
			}
		}
	}
	out := make([]series.Desc, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		out = append(out, byName[name])
	}
	return out
}

// A describer knows the metrics of a run by their names without the name of a source.
type describer struct {
	exact, suffix map[string]series.Desc
}

func newDescriber(r *record.Run) describer {
	d := describer{map[string]series.Desc{}, map[string]series.Desc{}}
	for _, s := range seriesDescs(r) {
		for _, m := range seriesMetrics(s) {
			d.suffix[m.Name] = m
		}
	}
	for _, m := range processDescs() {
		d.suffix[m.Name] = m
	}
	for _, v := range r.ValueDescs {
		d.exact[v.Name] = v
	}
	for name := range r.Values {
		if _, ok := d.exact[name]; !ok {
			d.exact[name] = desc(name, "", series.Neither, series.Median, series.Count, "recorded by an action of the plan")
		}
	}
	for _, m := range loadMetrics {
		d.exact[m.Name] = m.Desc
	}
	for _, m := range ofRun() {
		d.exact[m.Name] = m
	}
	return d
}

func (d describer) describe(name string) (series.Desc, bool) {
	if m, ok := d.exact[name]; ok {
		return m, true
	}
	// The longest name of a series wins, so prefixes are taken off from the left.
	for rest := name; ; {
		if m, ok := d.suffix[rest]; ok {
			m.Name = name
			return m, true
		}
		_, after, ok := strings.Cut(rest, "_")
		if !ok {
			return series.Desc{}, false
		}
		rest = after
	}
}

// seriesDescs are those of the run's probes; the process series are known without.
func seriesDescs(r *record.Run) map[string]series.SeriesDesc {
	out := map[string]series.SeriesDesc{}
	for _, s := range append(slices.Clone(processSeries), r.Series...) {
		out[s.Name] = s
	}
	for _, s := range GeneratorSeries {
		out[s.Name] = s
	}
	return out
}

// Catalogue describes every builtin metric of a load, and those of roles and processes with ROLE in place of the name.
func Catalogue() []series.Desc {
	out := []series.Desc{secondsDesc}
	for _, m := range loadMetrics {
		out = append(out, m.Desc)
	}
	out = append(out, ofRun()[1:]...)
	ofRole := processDescs()
	for _, s := range processSeries {
		ofRole = append(ofRole, seriesMetrics(s)...)
	}
	for _, d := range ofRole {
		d.Name = "ROLE_" + d.Name
		out = append(out, d)
	}
	return out
}

// ofRun are the metrics of a run as a whole, the first of any window.
func ofRun() []series.Desc {
	return append([]series.Desc{secondsDesc, backendConnsDesc, relaysLeftDesc}, recoveryDescs...)
}

var secondsDesc = desc("seconds", "s", series.Neither, series.Median, series.Count, "length of the window")
