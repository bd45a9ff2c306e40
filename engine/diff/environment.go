package diff

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// environments lists how two machines, or one machine at two times, differ in what may change figures.
func environments(a, b *record.Environment) (out []Difference) {
	if a == nil || b == nil {
		return nil
	}
	if a.Imported != nil || b.Imported != nil {
		return origins(a.Imported, b.Imported)
	}
	add := func(where, what, x, y string) {
		if x != y {
			out = append(out, Difference{Environment, where, x, y, what + ": " + sides(x, y), ""})
		}
	}
	number := func(n int) string { return strconv.Itoa(n) }
	add("hostname", "the machine", a.Hostname, b.Hostname)
	add("cpu_model", "the CPU", a.CPUModel, b.CPUModel)
	add("cpus", "CPUs that planrun may use", number(a.CPUs), number(b.CPUs))
	if len(a.CPUIDs) > 0 && len(b.CPUIDs) > 0 { // what older versions recorded has none
		add("cpu_ids", "which CPUs planrun may use", cpuList(a.CPUIDs), cpuList(b.CPUIDs))
	}
	add("governor", "the frequency governor", a.Governor, b.Governor)
	add("numa_nodes", "NUMA nodes", number(a.NUMA), number(b.NUMA))
	if math.Abs(a.MemoryMiB-b.MemoryMiB) > 0.01*max(a.MemoryMiB, b.MemoryMiB) { // kernels differ in what they keep for themselves
		add("memory_mib", "memory", fmt.Sprintf("%.0f MiB", a.MemoryMiB), fmt.Sprintf("%.0f MiB", b.MemoryMiB))
	}
	add("virtual", "the kind of machine", orBare(a.Virtual), orBare(b.Virtual))
	add("os", "the operating system", a.OS, b.OS)
	add("kernel", "the kernel", a.Kernel, b.Kernel)
	add("planrun", "planrun itself, with its load generator", a.Planrun, b.Planrun)
	add("go", "the Go that planrun is built with", a.Go, b.Go)
	each(a.Sysctls, b.Sysctls, func(k, x, y string) { add("sysctls."+k, "the sysctl "+k, x, y) })
	each(a.Limits, b.Limits, func(k, x, y string) { add("limits."+k, "the limit of "+k, x, y) })
	each(layout(a.Layout), layout(b.Layout), func(k, x, y string) {
		add("cpu_layout."+k, "the CPUs of the role "+k, x, y)
	})
	each(a.Offers, b.Offers, func(k, x, y string) {
		if word(x) != word(y) { // the rest is how much of it there was at the moment
			add("offers."+k, "whether this machine offers "+k, x, y)
		}
	})
	return out
}

// origins lists who published the figures of which side. What these were measured on is not in the set.
func origins(a, b *record.Imported) (out []Difference) {
	by := func(i *record.Imported) string {
		if i == nil {
			return "planrun measured them"
		}
		return "published by " + i.By
	}
	if x, y := by(a), by(b); x != y {
		out = append(out, Difference{Environment, "imported.by", x, y, "whose figures they are (on what published ones were measured is not recorded): " + sides(x, y), ""})
	}
	if a != nil && b != nil && a.SHA256 != b.SHA256 {
		out = append(out, Difference{Environment, "imported.sha256", a.SHA256, b.SHA256, "the file of figures: " + sides(a.File, b.File), ""})
	}
	return out
}

// word is the yes or no of an offer.
func word(offer string) string {
	w, _, _ := strings.Cut(offer, ":")
	return w
}

func orBare(virtual string) string {
	if virtual == "" {
		return "no virtual machine"
	}
	return virtual
}

func layout(l map[string][]int) map[string]string {
	out := map[string]string{}
	for role, cpus := range l {
		out[role] = cpuList(cpus)
	}
	return out
}

func cpuList(cpus []int) string {
	words := make([]string, len(cpus))
	for i, c := range cpus {
		words[i] = strconv.Itoa(c)
	}
	return strings.Join(words, ",")
}

// each goes through the keys of two maps in alphabetical order.
func each[V any](a, b map[string]V, f func(key string, a, b V)) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		f(k, a[k], b[k])
	}
}

// programs lists what ran as each target: targetA beside targetB where the sides are one target each, else by name.
func programs(a, b *Set) (out []Difference) {
	if a.Environment == nil || b.Environment == nil {
		return nil
	}
	pair := func(name string, x, y record.Program) {
		where := func(field string) string { return name + "." + field }
		if x.Missing != y.Missing {
			out = append(out, Difference{Programs, where("missing"), x.Missing, y.Missing, name + ": " + sides(ran(x), ran(y)), ""})
			return
		}
		if x.Version != y.Version {
			out = append(out, Difference{Programs, where("version"), x.Version, y.Version, name + ", its version: " + sides(joined(x.Version), joined(y.Version)), ""})
		}
		if x.SHA256 != y.SHA256 {
			words := name + ", the digest of its binary: " + sides(short(x.SHA256), short(y.SHA256))
			if x.Version == y.Version && x.Version != "" {
				words += ", although both say the same version"
			}
			out = append(out, Difference{Programs, where("sha256"), x.SHA256, y.SHA256, words, ""})
		}
		if x.Path != y.Path {
			out = append(out, Difference{Programs, where("path"), x.Path, y.Path, name + ", its binary: " + sides(x.Path, y.Path), ""})
		}
	}
	if a.Target != b.Target {
		pair(pairName(a, b), a.Environment.Programs[a.Target], b.Environment.Programs[b.Target])
		return out
	}
	each(a.Environment.Programs, b.Environment.Programs, func(name string, x, y record.Program) {
		_, inA := a.Environment.Programs[name]
		_, inB := b.Environment.Programs[name]
		if inA && inB && (a.Target == "" || a.Target == name) {
			pair(name, x, y)
		}
	})
	return out
}

func ran(p record.Program) string {
	if p.Missing != "" {
		return p.Missing
	}
	return "it ran"
}

// joined is a text with its white space as single spaces. It is not made visible: that is for those who write a document
// (report.Visible), and JSON has all of it.
func joined(s string) string { return strings.Join(strings.Fields(s), " ") }

func short(digest string) string { return digest[:min(12, len(digest))] }
