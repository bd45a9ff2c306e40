package report

import "fmt"

// A Chart shows numbers over the time of runs, in panels one below the other that share that time. A writer without
// pictures shows each panel as a table.
type Chart struct {
	Title   string // in words; "" if the one panel says enough
	Seconds int    // its length: each line has so many values
	Phases  []Stretch
	Marks   []Mark
	Panels  []Panel
	About   Text // what the lines are, and what was left out
}

// A Panel is a metric or series, a line for each of what is compared.
type Panel struct {
	Title string // the metric or series
	Unit  string
	Lines []Line
}

// A Line has one value for each second; nil where there was none.
type Line struct {
	Name   string
	Key    int // counts from 0; what has the same key looks the same in every picture
	Values []*float64
}

// A Stretch of time that is a phase, in seconds since the run began.
type Stretch struct {
	Name, Kind string
	From, To   float64
}

// A Mark is something that happened, once or several times, at seconds since the run began.
type Mark struct {
	At   []float64 // ascending, at least one
	Text string
}

// When says at which times a mark happened: "3.0 s", "2.0 s to 8.0 s, 4 times".
func (m Mark) When() string {
	if n := len(m.At); n > 1 {
		return fmt.Sprintf("%s to %s, %d times", seconds(m.At[0]), seconds(m.At[n-1]), n)
	}
	return seconds(m.At[0])
}

// Ranges shows one number with the lowest and highest of its runs, a bar for each of what is compared.
type Ranges struct {
	Title  string
	Groups []RangeGroup
}

// A RangeGroup is what shares an axis.
type RangeGroup struct {
	Title string // "throughput / h1-small"
	Label string // "req_per_s, higher is better"
	Bars  []Bar
	// Low and High are the lowest and highest value and run of all groups that share a scale; 0 and 0 if there is none.
	Low, High float64
}

// A Bar is a value and its range; Why says why there is no value.
type Bar struct {
	Name             string
	Key              int // as of a Line
	Value, Low, High float64
	Text             string // the numbers, formatted: "25,437 (25,100 to 25,900)"
	Doubtful         bool   // a guard spoils it
	Why              string
}

// Percentiles shows how latencies are distributed, in milliseconds.
type Percentiles struct {
	Title string
	Lines []Distribution
	About Text
}

// A Distribution is of all requests of the runs together: their histograms are merged, percentiles never averaged.
type Distribution struct {
	Name   string
	Key    int
	Count  int64
	Points []Percentile // by ascending share; the last one is the maximum
}

// A Percentile is the latency that a share (0 to 1) of the requests did not exceed.
type Percentile struct{ Share, Ms float64 }

func (Verdicts) block()    {}
func (Chart) block()       {}
func (Ranges) block()      {}
func (Percentiles) block() {}
