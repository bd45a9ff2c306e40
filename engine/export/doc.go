// Package export writes a result set in the formats of other tools, a file a format:
//
//	CSV          every value, a row each, for spreadsheets and data frames
//	SeriesCSV    what was sampled over time, a row a sample
//	JUnit        verdicts as tests, for CI systems
//	Benchfmt     runs as Go benchmark results, for benchstat
//	OpenMetrics  values as gauges and counters, for Prometheus and what reads its format
//
// It reads records and judges nothing: numbers are those of results.json and of the runs, unchanged and in the unit of their
// metric. In memory are the results and one run at a time.
package export

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// Options say what is exported. The zero value is all of it.
type Options struct {
	// Metrics are the only ones: p99_ms in every window, phase/fault/p99_ms in one. Empty means all.
	Metrics []string
	// Headline leaves out every window but the headline.
	Headline bool
	// Runs has the values of single runs beside those of cells, where a format can tell the two apart (CSV).
	Runs bool
	// Figures leaves of a CSV what planrun import reads: the first five columns, of the headline.
	Figures bool
}

// wants reports whether a metric of a window is exported.
func (o Options) wants(window, metric string) bool {
	if (o.Headline || o.Figures) && window != "" {
		return false
	}
	if len(o.Metrics) == 0 {
		return true
	}
	return slices.Contains(o.Metrics, metric) || window != "" && slices.Contains(o.Metrics, window+"/"+metric)
}

// axes are the matrix axes of all cells, in the order in which they appear.
func axes(res *record.Results) (names []string) {
	for _, c := range res.Cells {
		for _, a := range c.Coord.Matrix {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// axis is a coordinate's value of an axis; "" if it has none.
func axis(c record.Coord, name string) string {
	for _, a := range c.Matrix {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// environment is that of the set, an empty one if there is none.
func environment(set *record.Set) (*record.Environment, error) {
	env, err := set.Environment()
	if errors.Is(err, fs.ErrNotExist) {
		return &record.Environment{}, nil
	}
	return env, err
}
