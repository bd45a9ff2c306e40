package diff

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// usual are the metrics that are compared where none is asked for, beside those of the plan's own.
var usual = []string{"req_per_s", "p50_ms", "p99_ms", "failed", "sut_cpu_us_per_req", "sut_rss_peak_mib"}

// NoMetric says that neither set has a metric that a pattern means.
type NoMetric struct {
	Pattern string
	Known   []string
}

func (e *NoMetric) Error() string { return fmt.Sprintf("no matched cell has a metric %q", e.Pattern) }

// chosen lists the metrics that are compared, each once.
func (d *Diff) chosen(pairs []pair, patterns []string) (out []compare.Name, err error) {
	known := names(pairs)
	if len(pairs) == 0 {
		return nil, nil
	}
	if len(patterns) == 0 {
		return d.headline(known), nil
	}
	for _, p := range patterns {
		want := compare.ParseName(p)
		found := false
		for _, name := range known {
			ok, err := path.Match(want.Key(), name)
			if err != nil {
				return nil, fmt.Errorf("the metric %q is no pattern: %w; a [ begins a choice of letters, as in p9[59]_ms", p, err)
			}
			if !ok {
				continue
			}
			found = true
			if want.Stat != "" {
				name += "." + want.Stat
			}
			if m := compare.ParseName(name); !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
		if !found {
			return nil, &NoMetric{p, known}
		}
	}
	return out, nil
}

// headline are the usual metrics and those of the plan's own that are there, or, where none of them is (published figures),
// all of the headline window that have a better direction.
func (d *Diff) headline(known []string) (out []compare.Name) {
	want := slices.Clone(usual)
	for _, s := range []*Set{d.A, d.B} {
		want = append(want, slices.Sorted(maps.Keys(mapping(s.Plan["metrics"])))...)
	}
	for _, m := range want {
		if n := compare.ParseName(m); slices.Contains(known, m) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, m := range known {
		if !strings.Contains(m, "/") && d.desc(m).Better != series.Neither {
			out = append(out, compare.ParseName(m))
		}
	}
	return out
}

// names are those of all metrics that a side of a pair has: the headline's first, others with their window.
func names(pairs []pair) []string {
	seen := map[string]bool{}
	for _, p := range pairs {
		for _, c := range []*record.Cell{p.sideA.Cell, p.sideB.Cell} {
			for w, metrics := range c.Metrics {
				for _, m := range metrics.Names() {
					seen[compare.Name{Window: w, Metric: m}.Key()] = true
				}
			}
		}
	}
	out := slices.Collect(maps.Keys(seen))
	slices.SortFunc(out, func(x, y string) int {
		if a, b := strings.Contains(x, "/"), strings.Contains(y, "/"); a != b {
			return map[bool]int{true: 1, false: -1}[a]
		}
		return strings.Compare(x, y)
	})
	return out
}

// desc describes a metric as B's planrun does, else as A's.
func (d *Diff) desc(metric string) series.Desc {
	if x, ok := d.B.Results.Descs[metric]; ok {
		return x
	}
	return compare.Describe(d.A.Results.Descs, metric)
}
