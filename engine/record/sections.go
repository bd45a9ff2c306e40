package record

// A Section is one section of the report as the plan asks for it. Its `where` is evaluated when the results are made, so
// that a report needs no expression.
type Section struct {
	Kind    string   `json:"kind"`            // "verdicts", "threads", "table", "chart"
	Title   string   `json:"title,omitempty"` // of a table; of a chart its metric or series
	Cells   []int    `json:"cells"`           // what `where` selects: indexes into Results.Cells, in order
	Rows    []string `json:"rows,omitempty"`  // coordinates: stage, scenario, target, round, repeat, or a matrix axis
	Columns []string `json:"columns,omitempty"`
	// Metrics, optionally with a window before and a statistic of the runs behind: "req_per_s.min", "phase/fault/p99_ms".
	Metrics []string `json:"metrics,omitempty"`
	Ratios  []Ratio  `json:"ratios,omitempty"`
	Losses  *Against `json:"losses,omitempty"` // makes it the table of where each target loses
	As      string   `json:"as,omitempty"`     // form of a chart: "lines", "bars"
	// Aggregate over the rows of a table: "geomean", or "" for none.
	Aggregate string `json:"aggregate,omitempty"`
}

// A Ratio compares one target with another, or with the best of several.
type Ratio struct {
	Of      string   `json:"of"`
	To      Against  `json:"to"`
	Metrics []string `json:"metrics,omitempty"` // left out: those of the table
	// DistortedAbove is the share (0 to 1) of failed or slow requests above which a latency has no ratio; 0 means 0.001.
	DistortedAbove float64 `json:"distorted_above,omitempty"`
	DistortsAll    bool    `json:"distorts_all,omitempty"` // such a share leaves no metric a ratio
}

// Against is a target, or the best of several in each row.
type Against struct {
	Target string   `json:"target,omitempty"`
	Best   []string `json:"best,omitempty"`
}
