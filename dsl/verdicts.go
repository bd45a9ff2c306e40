package dsl

// A Verdict is a judgement.
type Verdict struct {
	Verdict   string    `yaml:"verdict" hole:"no" required:"true" doc:"what is claimed; its name"`
	About     string    `yaml:"about" hole:"no" doc:"why it matters"`
	Where     Expr      `yaml:"where" eval:"select" doc:"selects cells by target, scenario, stage and matrix.AXIS; selecting none is an error"`
	Each      string    `yaml:"each" hole:"no" enum:"cell|run|round|target|plan" default:"cell" doc:"what is judged one by one"`
	When      Expr      `yaml:"when" eval:"judge" doc:"where false it is not judged"`
	Let       Map[Expr] `yaml:"let" keys:"ident" eval:"judge" doc:"named sub-expressions, evaluated when used"`
	Pass      Expr      `yaml:"pass" eval:"judge" doc:"what must hold"`
	Cases     []Case    `yaml:"cases" min:"1" doc:"instead of pass: the first case whose when holds gives a label and an outcome"`
	Gate      string    `yaml:"gate" hole:"no" enum:"true|false|fail-only" default:"false" doc:"true: a fail is exit 1, an inconclusive exit 3; fail-only: only a fail counts"`
	GateWhere Expr      `yaml:"gate-where" eval:"select" doc:"the cells that the gate is about; the others are reported as comparison"`
	Mixed     string    `yaml:"mixed" hole:"no" enum:"fail|inconclusive" default:"fail" doc:"what runs (or rounds) that disagree are, where each is run or round"`
}

// A Case is one of a verdict's cases.
type Case struct {
	When    Expr   `yaml:"when" eval:"judge" doc:"when it applies; left out: always, in the last case"`
	Is      string `yaml:"is" hole:"no" required:"true" doc:"the label"`
	Outcome string `yaml:"outcome" hole:"no" required:"true" enum:"pass|fail|inconclusive" doc:"what it means"`
}

// A Section is a section of the report: one of Section, Table, Chart and Beside.
type Section struct {
	Section string   `yaml:"section" hole:"no" kind:"true" short:"true" enum:"verdicts|threads" doc:"a section that planrun writes by itself: the verdicts, or the CPU of each thread of the targets (with where)"`
	Table   string   `yaml:"table" hole:"no" kind:"true" doc:"a table; the value is its title"`
	Chart   string   `yaml:"chart" hole:"no" kind:"true" doc:"a chart of a metric or series"`
	Where   Expr     `yaml:"where" eval:"select" doc:"selects cells"`
	Rows    Strings  `yaml:"rows" hole:"no" doc:"coordinates that make the rows: stage, scenario, target, round, or a matrix axis"`
	Columns Strings  `yaml:"columns" hole:"no" doc:"coordinates that make the columns; left out: a column for each metric"`
	Metrics []string `yaml:"metrics" hole:"no" doc:"metrics, optionally of a phase and with a statistic of the runs: req_per_s.min, phase/fault/p99_ms"`
	Ratios  []Ratio  `yaml:"ratios" doc:"ratios between targets, with their noise"`
	Losses  Losses   `yaml:"losses" doc:"makes it the table of where each target loses"`
	As      string   `yaml:"as" hole:"no" enum:"lines|bars" doc:"the form of a chart"`
	Beside  string   `yaml:"beside" hole:"no" kind:"true" path:"true" doc:"an earlier result set, whose figures stand in every table behind today's, with the ratio of today's to them"`
	Label   string   `yaml:"label" hole:"no" doc:"what heads the columns of beside; left out: the name of its directory"`

	Aggregate string `yaml:"aggregate" hole:"no" enum:"geomean" doc:"adds the geometric mean of each column and of each ratio over the rows; a row in which a side that is compared has no value is left out for all sides, and listed"`
}

// A Ratio compares one target with another.
type Ratio struct {
	Of             string   `yaml:"of" hole:"no" required:"true" ref:"targets" doc:"the target in the numerator"`
	To             RatioTo  `yaml:"to" required:"true" doc:"the target in the denominator, or the best of several"`
	Metrics        []string `yaml:"metrics" hole:"no" doc:"metrics; left out: those of the table"`
	Distorted      string   `yaml:"distorted" hole:"no" enum:"latencies|all" default:"latencies" doc:"what has no ratio where too many requests of a side failed or were slow: latencies, which are of successes only, or all metrics"`
	DistortedAbove Percent  `yaml:"distorted-above" default:"0.1%" min:"0%" max:"100%" doc:"above this share of failed or slow requests on a side there is no ratio of what distorted says"`
}

// A RatioTo is what is compared with: a target, or the best of several.
type RatioTo struct {
	Target string   `yaml:"target" hole:"no" kind:"true" short:"true" ref:"targets" doc:"a target"`
	Best   []string `yaml:"best" hole:"no" kind:"true" ref:"targets" doc:"the best of these in each row; the report names it"`
}

// Losses is a table of where each target loses.
type Losses struct {
	Against RatioTo `yaml:"against" required:"true" doc:"what each target is compared with"`
}
