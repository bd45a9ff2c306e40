package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// OpenMetrics writes the values of cells in the text format 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), a
// family a metric, without times: they are those of now for whoever reads them.
//
//	# HELP planrun_p99_ms latency of successes, from the moment at which the request was due (lower is better)
//	# TYPE planrun_p99_ms gauge
//	# UNIT planrun_p99_ms ms
//	planrun_p99_ms{plan="round2",stage="throughput",scenario="h1-small",target="nginx",statistic="median"} 2.74
//
// What is summed over runs is a counter (planrun_failed_total) with the one statistic sum; all else is a gauge with the
// statistics of the CSV. Names are those of the metrics behind planrun_, with their unit at the end as the format wants it.
// Values stay in it: a base unit would be another number than the one in the report. A label matrix_NAME is an axis; window is
// left out for the headline. planrun_runs is how many runs a cell has, planrun_verdict is 1 for each judgement, with its outcome
// as a label, planrun_exit_code the exit code.
func OpenMetrics(w io.Writer, res *record.Results, opt Options) error {
	b := bufio.NewWriter(w)
	o := &families{w: b, plan: res.Plan, taken: map[string]bool{}}
	o.exitCode(res)
	o.verdicts(res)
	o.runs(res)
	names := map[string]bool{}
	for _, c := range res.Cells {
		for _, metrics := range c.Metrics {
			for _, name := range metrics.Names() {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		o.metric(res, name, opt)
	}
	if o.err == nil {
		_, o.err = expfmt.FinalizeOpenMetrics(b)
	}
	if o.err == nil {
		o.err = b.Flush()
	}
	return wrote("openmetrics", o.err)
}

// families are written one by one.
type families struct {
	w     *bufio.Writer
	plan  string
	taken map[string]bool // names of families and of samples
	err   error           // the first
}

func (o *families) write(f *dto.MetricFamily) {
	if o.err == nil && len(f.Metric) > 0 {
		_, o.err = expfmt.MetricFamilyToOpenMetrics(o.w, f)
	}
}

func (o *families) exitCode(res *record.Results) {
	f := o.gauges("exit_code", "", "exit code of the plan run: 0 if every gate passed")
	f.Metric = append(f.Metric, gauge(o.labels(record.Coord{}), float64(res.Exit)))
	o.write(f)
}

func (o *families) verdicts(res *record.Results) {
	f := o.gauges("verdict", "", "1 for each judgement of a verdict, with its outcome")
	seen := map[string]bool{}
	for _, j := range res.Verdicts {
		labels := append(o.labels(j.Coord), label("verdict", j.Verdict), label("gate", j.Gate), label("outcome", j.Outcome))
		if key := fmt.Sprint(labels); !seen[key] {
			seen[key] = true
			f.Metric = append(f.Metric, gauge(labels, 1))
		}
	}
	o.write(f)
}

func (o *families) runs(res *record.Results) {
	f := o.gauges("runs", "", "runs of a cell, also those without results")
	for _, c := range res.Cells {
		f.Metric = append(f.Metric, gauge(append(o.labels(c.Coord), label("status", string(c.Status))), float64(len(c.Runs))))
	}
	o.write(f)
}

// metric writes a metric of all cells. Of the cells' metrics no more than this one is in memory a second time.
func (o *families) metric(res *record.Results, name string, opt Options) {
	d := res.Descs[name]
	counter := d.Across == series.Sum && !negative(res, name)
	family := o.gauges
	if counter {
		family = o.counters
	}
	f := family(name, d.Unit, help(d))
	for i := range res.Cells {
		c := &res.Cells[i]
		for _, window := range slices.Sorted(maps.Keys(c.Metrics)) {
			v, ok := c.Metrics[window].Get(name)
			if !ok || !opt.wants(window, name) {
				continue
			}
			for _, s := range statistics(d.Across, v) {
				labels := append(o.labels(c.Coord), label("window", window), label("statistic", s.name))
				if !counter {
					f.Metric = append(f.Metric, gauge(labels, s.value))
				} else if s.name == string(series.Sum) {
					f.Metric = append(f.Metric, &dto.Metric{Label: present(labels), Counter: &dto.Counter{Value: &s.value}})
				}
			}
		}
	}
	o.write(f)
}

// negative reports whether a metric has a value that no counter may have.
func negative(res *record.Results, name string) bool {
	for _, c := range res.Cells {
		for _, metrics := range c.Metrics {
			if metrics.Value(name).Value < 0 {
				return true
			}
		}
	}
	return false
}

func help(d series.Desc) string {
	h := plain(d.Doc)
	if d.Better != series.Neither {
		h = strings.TrimSpace(h + " (" + string(d.Better) + " is better)")
	}
	return h
}

func (o *families) gauges(name, unit, help string) *dto.MetricFamily {
	return o.family(name, unit, help, dto.MetricType_GAUGE, "")
}

func (o *families) counters(name, unit, help string) *dto.MetricFamily {
	return o.family(name, unit, help, dto.MetricType_COUNTER, "_total")
}

// family names a family: no name of it or of its samples is that of another.
func (o *families) family(name, unit, help string, kind dto.MetricType, suffix string) *dto.MetricFamily {
	unit = unitSuffix(unit)
	base := "planrun_" + strings.TrimSuffix(identifier(name), "_total")
	if unit != "" {
		base = strings.TrimSuffix(base, "_"+unit)
	}
	full := base
	for n := 1; ; n++ {
		if n > 1 {
			full = fmt.Sprintf("%s_%d", base, n)
		}
		if unit != "" {
			full += "_" + unit
		}
		if !o.taken[full] && !o.taken[full+"_total"] {
			break
		}
	}
	o.taken[full], o.taken[full+suffix] = true, true
	full += suffix
	f := &dto.MetricFamily{Name: &full, Type: &kind}
	if help != "" {
		f.Help = &help
	}
	if unit != "" {
		f.Unit = &unit
	}
	return f
}

// unitSuffix is a unit as part of a name: "req/s" is req_per_s, "MiB" is mib, "1/s" is per_s.
func unitSuffix(unit string) string {
	s := strings.ReplaceAll(strings.ToLower(unit), "/", "_per_")
	return strings.Trim(identifier(strings.TrimPrefix(s, "1_")), "_")
}

// identifier is a text as part of a name.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

func gauge(labels []*dto.LabelPair, v float64) *dto.Metric {
	return &dto.Metric{Label: present(labels), Gauge: &dto.Gauge{Value: &v}}
}

func label(name, value string) *dto.LabelPair {
	value = plain(value)
	return &dto.LabelPair{Name: &name, Value: &value}
}

// present are the labels that have a value: an empty one is the same as none.
func present(labels []*dto.LabelPair) []*dto.LabelPair {
	return slices.DeleteFunc(labels, func(l *dto.LabelPair) bool { return l.GetValue() == "" })
}

func (o *families) labels(c record.Coord) []*dto.LabelPair {
	out := []*dto.LabelPair{label("plan", o.plan), label("stage", c.Stage), label("scenario", c.Scenario), label("target", c.Target)}
	for _, a := range c.Matrix {
		out = append(out, label("matrix_"+identifier(a.Name), a.Value))
	}
	return append(out, label("round", positive(c.Round)), label("repeat", positive(c.Repeat)))
}
