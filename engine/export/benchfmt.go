package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// Benchfmt writes runs as results of Go benchmarks (https://go.dev/design/14313-benchmark-format), so that benchstat compares
// two sets, or two targets of one:
//
//	Unit p99_ms better=lower
//	pkg: round2
//	cpu: Example CPU
//
//	BenchmarkH1-small/stage=throughput/size=4k/target=nginx 1893421 63114.03 req_per_s 2.74 p99_ms
//
// A line is a window of a run: repeats and rounds are lines of one name. Published figures whose runs are not known have none. Windows but the headline have /window=NAME. The name
// of a scenario begins with a capital letter, as those of benchmarks do; white space, slashes, percent signs and what is not
// printed are written as in a URL's path. After a name like nginx-2 stands a slash: its end would read as a number of CPUs. The
// iterations are the requests of the window, or 1.
//
// benchstat compares within equal configuration only, so that holds what makes a comparison doubtful: the plan (pkg), the
// operating system, kernel and CPUs. What differs between any two sets (start, versions) is in lines that readers pass over.
func Benchfmt(w io.Writer, set *record.Set, res *record.Results, opt Options) error {
	env, err := environment(set)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	for _, line := range remarks(env) {
		fmt.Fprintf(b, "# %s\n", oneLine(line)) // b keeps its error
	}
	out := benchfmt.NewWriter(b)
	for _, name := range slices.Sorted(maps.Keys(res.Descs)) {
		if better := res.Descs[name].Better; better != series.Neither {
			u := &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unitName(name), Key: "better"}, OrigUnit: unitName(name), Value: string(better)}
			if err := out.Write(u); err != nil {
				return wrote("benchfmt", err)
			}
		}
	}
	config := configOf(res, env)
	for r, err := range set.Runs() {
		if err != nil {
			return err
		}
		if !r.Status.HasResults() {
			continue
		}
		for _, window := range slices.Sorted(maps.Keys(r.Metrics)) {
			result := resultOf(r, window, opt)
			if len(result.Values) == 0 {
				continue
			}
			result.Config = config
			if err := out.Write(result); err != nil {
				return wrote("benchfmt", err)
			}
		}
	}
	return wrote("benchfmt", b.Flush())
}

func resultOf(r *record.Run, window string, opt Options) *benchfmt.Result {
	m := r.Metrics[window]
	out := &benchfmt.Result{Name: benchfmt.Name(benchName(r.Coord, window)), Iters: 1}
	if n := m.Value("requests"); n >= 1 && n <= math.MaxInt32 {
		out.Iters = int(n)
	}
	for name, v := range m.All() {
		if opt.wants(window, name) {
			out.Values = append(out.Values, benchfmt.Value{Value: v, Unit: unitName(name)})
		}
	}
	return out
}

// benchName is the name of a benchmark, without the word itself.
func benchName(c record.Coord, window string) string {
	var b strings.Builder
	b.WriteString(capital(benchPart(c.Scenario)))
	part := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "/%s=%s", benchPart(key), benchPart(value))
		}
	}
	part("stage", c.Stage)
	for _, a := range c.Matrix {
		part(a.Name, a.Value)
	}
	part("window", window)
	part("target", c.Target)
	name := b.String()
	if digits := strings.TrimRight(name, "0123456789"); digits != name && strings.HasSuffix(digits, "-") {
		name += "/"
	}
	return name
}

// capital makes the first letter of a name a capital; before what has none stands an X.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if up := unicode.ToUpper(first); unicode.IsUpper(up) {
		return string(up) + s[n:]
	}
	return "X" + s
}

// benchPart writes as in a URL's path what would end a part of a name, or the name.
func benchPart(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if r == '/' || r == '%' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unitName is a metric's name as a unit. Its value stays as it is: benchfmt would make seconds of a part "ns" and bytes of "MB",
// which parts end at / * and -.
func unitName(metric string) string {
	return strings.NewReplacer("*", "_", "-", "_").Replace(benchPart(metric))
}

func configOf(res *record.Results, env *record.Environment) (out []benchfmt.Config) {
	add := func(key, value string) {
		if value = oneLine(value); value != "" {
			out = append(out, benchfmt.Config{Key: key, Value: []byte(value), File: true})
		}
	}
	add("pkg", res.Plan)
	add("os", env.OS)
	add("cpu", env.CPUModel)
	if env.CPUs > 0 {
		add("cpus", fmt.Sprint(env.CPUs))
	}
	add("kernel", env.Kernel)
	return out
}

// remarks are what else is to be known of the set.
func remarks(env *record.Environment) (out []string) {
	if env.Planrun != "" {
		out = append(out, "planrun "+env.Planrun)
	}
	if !env.Start.IsZero() {
		out = append(out, "started "+env.Start.UTC().Format("2006-01-02 15:04:05 UTC")+" on "+env.Hostname)
	}
	if env.Imported != nil {
		out = append(out, "published by "+env.Imported.By)
	}
	for _, name := range slices.Sorted(maps.Keys(env.Programs)) {
		if v := env.Programs[name].Version; v != "" {
			out = append(out, "target "+name+": "+v)
		}
	}
	return out
}
