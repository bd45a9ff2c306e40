package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

// produced is what the runs of a cell will have.
type produced struct {
	run, series     []verdict.Metric
	loads, replicas map[string][]verdict.Metric
}

// produced says what the runs of a cell will have; what is the same for several cells is made once.
func (c *compilation) produced(cell *Cell, kinds map[string]*produced) *produced {
	if c.Plan.IsPublished() {
		return c.publishedMetrics(cell, kinds)
	}
	k, key := c.known(cell)
	if p := kinds[key]; p != nil {
		return p
	}
	p := &produced{run: metricsOf(measure.Produced(k)), loads: map[string][]verdict.Metric{}, replicas: map[string][]verdict.Metric{}}
	for _, d := range measure.ProducedSeries(k) {
		m := verdict.Metric{Name: d.Name}
		if d.Class == series.Timing {
			m.Class = verdict.Rate
		}
		p.series = append(p.series, m)
	}
	loads, replicas := metricsOf(measure.ProducedLoad()), metricsOf(measure.ProducedReplica(k))
	for _, l := range cell.declared.loads {
		p.loads[l.name] = loads
	}
	for _, q := range cell.declared.processes {
		p.replicas[q.Name] = replicas
	}
	kinds[key] = p
	return p
}

// known is what measure has to know of a cell, and a key that is the same for cells of which it knows the same.
func (c *compilation) known(cell *Cell) (measure.Known, string) {
	d := cell.declared
	k := measure.Known{Loads: slices.ContainsFunc(d.loads, func(l loadDecl) bool { return l.headline }), Roles: []string{"control"}, Processes: []string{"planrun"}, RoleOf: map[string]string{"planrun": "control"}}
	if len(d.loads) > 0 {
		k.Roles = append(k.Roles, "load")
	}
	var key strings.Builder
	for _, p := range d.processes {
		role := cmp.Or(p.Role, "sut")
		k.Roles, k.Processes, k.RoleOf[p.Name] = append(k.Roles, role), append(k.Processes, p.Name), role
		fmt.Fprintf(&key, "%q %q\n", p.Name, role)
	}
	for _, l := range d.loads {
		k.LoadNames, k.Processes, k.RoleOf[l.name] = append(k.LoadNames, l.name), append(k.Processes, l.name), "load"
		fmt.Fprintf(&key, "%q %v\n", l.name, l.headline)
	}
	probes, _ := c.probes(cell, cell.eval.fill(context.Background(), cell.known, cell.values())) // problems are found with the other expressions
	for _, p := range probes {
		s := p.spec.Produces()
		k.Probes = append(k.Probes, measure.Probe{Series: s, Of: p.of})
		fmt.Fprintf(&key, "%q %v\n", p.name, p.of)
		for _, d := range s {
			key.WriteString(d.Name)
			key.WriteByte(' ')
		}
	}
	k.Values, k.Faults, k.Relays = d.metrics, d.faults, len(cell.Relays) > 0
	fmt.Fprintf(&key, "%v %v\n", k.Faults, k.Relays)
	for _, m := range d.metrics {
		fmt.Fprintf(&key, "%q\n", m.Name)
	}
	slices.Sort(k.Roles)
	slices.Sort(k.Processes)
	k.Roles, k.Processes = slices.Compact(k.Roles), slices.Compact(k.Processes)
	return k, key.String()
}

// across is how expressions put runs together.
func across(a series.Across) verdict.Across {
	return map[series.Across]verdict.Across{series.Median: verdict.ByMedian, series.Sum: verdict.BySum, series.Max: verdict.ByMax, series.Mean: verdict.ByMean}[a]
}

// metricOf tells expressions about a metric.
func metricOf(d series.Desc) verdict.Metric {
	m := verdict.Metric{Name: d.Name, List: d.List, Across: across(d.Across)}
	switch {
	case d.Class == series.Count && d.Unit == "":
		m.Class = verdict.Count
	case d.Class == series.Timing && d.Unit == "ms" && !d.Apart:
		m.Class = verdict.Latency
	case d.Class == series.Timing && (d.Unit == "cores" || d.Unit == "us"):
		m.Class = verdict.CPU
	case d.Class == series.Timing:
		m.Class = verdict.Rate
	}
	return m
}

func metricsOf(ds []series.Desc) (out []verdict.Metric) {
	for _, d := range ds {
		out = append(out, metricOf(d))
	}
	return out
}
