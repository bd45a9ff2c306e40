package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// figures are what a run measures now: of each load the newest second that was reported, of each role of processes the CPUs
// in use since its last sample. They are for watching; what is judged is recorded elsewhere.
type figures struct {
	loads map[string]*flow
	cpu   map[reading]*usage
}

// A flow is one load: its newest second, added up over workers, phases and the parts in which it comes.
type flow struct {
	second     int
	ok, failed int64
	latency    *hdr.Histogram
	failures   int64 // since it began
	waiting    map[int]int
}

// A reading is a series of CPU time of one process.
type reading struct {
	role, series, source string
	replica              int
}

type usage struct{ t, v, rate float64 }

func newFigures() *figures { return &figures{map[string]*flow{}, map[reading]*usage{}} }

// sample takes what a worker of a load reported.
func (f *figures) sample(name string, s load.Sample) {
	x := f.loads[name]
	if x == nil {
		x = &flow{second: -1, waiting: map[int]int{}}
		f.loads[name] = x
	}
	for _, sec := range s.Seconds {
		x.waiting[sec.Worker] = s.Health.Waiting
		bad := sum(sec.Counts.Non2xx) + sum(sec.Counts.Errors)
		x.failures += bad
		if sec.Second > x.second {
			x.second, x.ok, x.failed, x.latency = sec.Second, 0, 0, new(hdr.Histogram)
		}
		if sec.Second < x.second {
			continue
		}
		x.ok += sec.Counts.OK
		x.failed += bad
		if sec.Latency != nil {
			_ = x.latency.Merge(sec.Latency) // values beyond the range are counted by it, too
		}
	}
}

func sum[K comparable](m map[K]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

// point takes a reading of a probe.
func (f *figures) point(p series.Point) {
	if p.Series != "cpu_user_s" && p.Series != "cpu_kernel_s" || p.Label != "" || p.Role == "" {
		return
	}
	k := reading{p.Role, p.Series, p.Source, p.Replica}
	old := f.cpu[k]
	if old == nil {
		f.cpu[k] = &usage{t: p.T, v: p.V}
	} else if p.T > old.t {
		f.cpu[k] = &usage{p.T, p.V, max(0, p.V-old.v) / (p.T - old.t)}
	}
}

// load says what the loads do: of each the rate of good answers, its p99, and how many requests failed so far.
func (f *figures) load() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.loads)) {
		x := f.loads[name]
		if x.second < 0 {
			continue
		}
		text := plural.Grouped(x.ok) + "/s"
		if x.latency.Count() > 0 {
			text += " p99 " + milliseconds(x.latency.Quantile(0.99)/1e6)
		}
		text += " failed " + plural.Grouped(x.failures)
		if n := sum(widen(x.waiting)); n > 0 {
			text += " waiting " + plural.Grouped(n)
		}
		if len(f.loads) > 1 {
			text = name + " " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func widen(m map[int]int) map[int]int64 {
	out := map[int]int64{}
	for k, v := range m {
		out[k] = int64(v)
	}
	return out
}

// cores says how many CPUs each role uses, the target first and the load second.
func (f *figures) cores() string {
	by := map[string]float64{}
	for k, u := range f.cpu {
		by[k.role] += u.rate
	}
	rank := func(role string) int { return slices.Index([]string{"load", "sut"}, role) }
	roles := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(rank(b)-rank(a), cmp.Compare(a, b)) })
	var out []string
	for _, role := range roles {
		out = append(out, fmt.Sprintf("%s %.2f", role, by[role]))
	}
	if len(out) == 0 {
		return ""
	}
	return "CPUs: " + strings.Join(out, ", ")
}

// milliseconds is a latency with three digits.
func milliseconds(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.3g s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.3g ms", ms)
}
