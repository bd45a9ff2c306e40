// Package series names what is measured: descriptions of metrics and series, and points in time.
package series

// Better says which direction of a number is the better one.
type Better string

// The directions; Neither is for numbers without a judgement (a port count).
const (
	Lower   Better = "lower"
	Higher  Better = "higher"
	Neither Better = ""
)

// Across says how the values of a cell's runs become the cell's value.
type Across string

// Counters are summed, peaks are maxima, the rest medians; a mean is what a plan says so of.
const (
	Median Across = "median"
	Sum    Across = "sum"
	Max    Across = "max"
	Mean   Across = "mean"
)

// Class says which guards taint a number: guards of timing taint Timing, never Count; guards of work taint everything.
type Class string

// Timing covers latencies, rates and CPU figures; Count covers outcomes and states (failed, rss, descriptors).
const (
	Timing Class = "timing"
	Count  Class = "count"
)

// A Desc describes one metric of a run.
type Desc struct {
	Name   string // with its unit: p99_ms, sut_rss_peak_mib
	Unit   string // ms, req/s, MiB, cores, "" for a plain number
	Better Better
	Across Across
	Class  Class
	Doc    string
	Apart  bool // a time that is not one of requests that succeeded: failures do not distort it
	List   bool // of replicas only: a list for each replica, such as the connections of each of its workers
}

// Shape says how a series is read.
type Shape string

// A Gauge has a value at each sample; a Counter only grows, and its rate is what counts.
const (
	Gauge   Shape = "gauge"
	Counter Shape = "counter"
)

// A SeriesDesc describes what a probe samples, per source.
type SeriesDesc struct {
	Name  string // rss_mib, cpu_user_s, connections
	Unit  string
	Shape Shape
	Class Class
	Doc   string
	Kept  bool // the plan chose the name: it is known without the name of its source before it too
	By    bool // it has labels that count one by one: a list for each replica
}

// A Point is one reading of one series of one source.
type Point struct {
	T       float64 `json:"t"`           // seconds since the run began
	Series  string  `json:"s"`           // SeriesDesc.Name
	Source  string  `json:"o,omitempty"` // process ("nginx"), relay, host part ("cpu0"); "" is the whole
	Replica int     `json:"r,omitempty"`
	Role    string  `json:"role,omitempty"` // sut, load, backends, control, ... of processes
	Label   string  `json:"l,omitempty"`    // a further dimension: a thread's name, a CPU
	V       float64 `json:"v"`
}
