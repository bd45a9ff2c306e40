package report

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A track is one source's readings of one series, in time order.
type track struct {
	counter bool
	points  []series.Point
}

// sampled is a series of probes: the sum over its sources of each one's mean in the stretch; of a counter what it grew by
// a second. With a role before its name it is of that role's processes alone. cpu_cores is made of the two counters of
// CPU time.
func sampled(d *record.Data, name string) curve {
	tracks := tracksOf(d.Points, "", name)
	if len(tracks) == 0 {
		roles := map[string]bool{}
		for _, p := range d.Points {
			roles[p.Role] = true
		}
		for _, role := range sorted(roles) {
			if rest, ok := strings.CutPrefix(name, role+"_"); ok && role != "" {
				tracks = append(tracks, tracksOf(d.Points, role, rest)...)
			}
		}
	}
	return func(from, to float64) (sum float64, some bool) {
		for _, t := range tracks {
			if v, ok := t.over(from, to); ok {
				sum, some = sum+v, true
			}
		}
		return sum, some
	}
}

// counters are the series whose growth counts, though their names end in no unit of time.
var counters = []string{"cpu_user_s", "cpu_kernel_s", "thread_cpu_s", "listen_drops", "listen_overflows", "syn_retransmits", "tcp_retransmits", "probe_gaps"}

func tracksOf(points []series.Point, role, name string) (out []*track) {
	names := []string{name}
	if name == "cpu_cores" {
		names = []string{"cpu_user_s", "cpu_kernel_s"}
	}
	byKey := map[series.Point]*track{}
	for _, p := range points {
		if !slices.Contains(names, p.Series) || role != "" && p.Role != role {
			continue
		}
		key := p
		key.T, key.V = 0, 0
		t := byKey[key]
		if t == nil {
			t = &track{counter: slices.Contains(counters, p.Series)}
			byKey[key] = t
			out = append(out, t)
		}
		t.points = append(t.points, p)
	}
	for _, t := range out {
		slices.SortStableFunc(t.points, func(a, b series.Point) int {
			if a.T < b.T {
				return -1
			} else if a.T > b.T {
				return 1
			}
			return 0
		})
	}
	return out
}

// over is the track's mean, or its growth a second since the last reading before the stretch.
func (t *track) over(from, to float64) (float64, bool) {
	i, _ := slices.BinarySearchFunc(t.points, from, func(p series.Point, at float64) int {
		if p.T < at {
			return -1
		}
		return 1
	})
	j := i
	for j < len(t.points) && t.points[j].T < to {
		j++
	}
	if i == j {
		return 0, false
	}
	if !t.counter {
		v := make([]float64, 0, j-i)
		for _, p := range t.points[i:j] {
			v = append(v, p.V)
		}
		return stats.Mean(v), true
	}
	first, last := t.points[max(0, i-1)], t.points[j-1]
	if last.T <= first.T || last.V < first.V { // one reading, or a restart
		return 0, false
	}
	return (last.V - first.V) / (last.T - first.T), true
}
