package compare

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/series"
)

// A Name says which number of a cell is meant: a metric of a window, or a statistic of its runs.
type Name struct {
	Text   string // as it was written
	Window string // "" is the headline
	Metric string
	Stat   string // one of Statistics; "" is what the metric's runs give together
}

// Statistics of a cell's runs that a name can end in.
var Statistics = []string{"min", "max", "mean", "median", "cv", "n"}

// ParseName reads "p99_ms", "p99_ms.min" or "phase/fault/p99_ms.min". Names of metrics have neither slash nor point; names
// of windows may.
func ParseName(s string) Name {
	m := Name{Text: s, Metric: s}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		m.Window, m.Metric = s[:i], s[i+1:]
	}
	if name, stat, ok := strings.Cut(m.Metric, "."); ok && slices.Contains(Statistics, stat) {
		m.Metric, m.Stat = name, stat
	}
	return m
}

// Key is how a record's Missing names the metric: of a window other than the headline with the window before it.
func (m Name) Key() string {
	if m.Window == "" {
		return m.Metric
	}
	return m.Window + "/" + m.Metric
}

// perRun is the metric itself, whatever statistic of its runs is asked for.
func (m Name) perRun() Name { return Name{Text: m.Text, Window: m.Window, Metric: m.Metric} }

// Describe is the description of a metric; one that descs does not have is a timing whose runs give their median.
func Describe(descs map[string]series.Desc, metric string) series.Desc {
	if d, ok := descs[metric]; ok {
		return d
	}
	return series.Desc{Name: metric, Across: series.Median, Class: series.Timing}
}
