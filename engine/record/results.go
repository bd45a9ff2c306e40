package record

import "github.com/planrun/planrun/engine/series"

// Results is the cache of what a report needs: cells with their metrics, judgements, and what the plan says about them.
type Results struct {
	Version  int    `json:"version"`
	Plan     string `json:"plan"`
	About    string `json:"about,omitempty"`
	Exit     int    `json:"exit"`
	ExitWhy  string `json:"exit_why"`
	Complete bool   `json:"complete"` // false: some runs are missing (interrupted, or the engine died)
	// RunsSHA256 is the Digest of the runs that they were made of; "" where one of them cannot be read.
	RunsSHA256 string `json:"runs_sha256,omitempty"`

	Targets   []Target               `json:"targets"`
	Scenarios []Scenario             `json:"scenarios"`
	Stages    []Stage                `json:"stages"`
	Cells     []Cell                 `json:"cells"`
	Descs     map[string]series.Desc `json:"descs"`
	Verdicts  []Judgement            `json:"verdicts"`
	// Sections of the report, as the plan has them; nil if it has none: the report then makes its own.
	Sections []Section `json:"sections,omitempty"`
	Undone   []string  `json:"not_undone,omitempty"` // what could not be undone
}

// A Target as the report shows it.
type Target struct {
	Name        string            `json:"name"`
	About       string            `json:"about,omitempty"`
	Own         string            `json:"own,omitempty"` // the kind of planrun's own servers that it is: proxy, relay, ...
	Knobs       []Knob            `json:"knobs,omitempty"`
	CannotEqual []string          `json:"cannot_equal,omitempty"`
	Unsupported map[string]string `json:"unsupported,omitempty"` // scenario -> reason
	Program     Program           `json:"program"`
}

// A Knob is a value of a target's `with`, as written, and why it is set.
type Knob struct {
	Name, Value, Why string
}

// A Scenario as the report shows it.
type Scenario struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Loads in words: "16 connections, closed loop, GET /small over h1".
	Loads []string `json:"loads,omitempty"`
}

// A Cell is one (stage, scenario, target, matrix) with all its runs. The Coord's Round and Repeat are 0.
type Cell struct {
	Coord   Coord             `json:"coord"`
	Status  Status            `json:"status"` // done if any run has results
	Reason  string            `json:"reason,omitempty"`
	Runs    []string          `json:"runs"`    // ids, in order
	Metrics CellWindows       `json:"metrics"` // window -> metric
	Missing map[string]string `json:"missing,omitempty"`
	Shared  bool              `json:"shared,omitempty"` // several of its runs were on the same processes
}

// A Value is a metric of a cell: the runs' values and what Desc.Across makes of them. A run without the metric has no
// entry in Runs; N says how many runs have one.
type Value struct {
	Value   float64   `json:"value"`
	Runs    []float64 `json:"runs"`
	Tainted string    `json:"tainted,omitempty"` // the guard that spoils it, in words
	// Whole are the published statistics of all runs together, where the runs' values are not known: median, min, max, sum,
	// mean. Runs is then empty.
	Whole map[string]float64 `json:"whole,omitempty"`
}

// Outcomes of verdicts.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
	NotSupported = "unsupported"
	Error        = "error"
	NotJudged    = "not judged" // `when` is false
)

// Outcomes are all of a verdict's, the gravest first.
var Outcomes = []string{Fail, Error, Inconclusive, NotSupported, Pass, NotJudged}

// A Judgement is the outcome of one verdict for one cell (or target, or the plan).
type Judgement struct {
	Verdict    string         `json:"verdict"`
	About      string         `json:"about,omitempty"` // why it matters
	Let        []Operand      `json:"let,omitempty"`   // names in its expressions, each with what it stands for
	Coord      Coord          `json:"coord"`           // coordinates that do not apply are empty
	Outcome    string         `json:"outcome"`
	Label      string         `json:"label,omitempty"` // of cases
	Reason     string         `json:"reason,omitempty"`
	Expression string         `json:"expression"`
	Operands   []Operand      `json:"operands,omitempty"`
	N          int            `json:"n"`              // runs it rests on
	Gate       string         `json:"gate,omitempty"` // "", "true", "fail-only"
	Runs       []RunJudgement `json:"runs,omitempty"`
	Broke      string         `json:"broke,omitempty"` // when a series first broke it
	// Distance is how far what failed is from its limit, where the expression is one comparison: |ln| of the ratio of its sides, of
	// within(a, b, c) that of a and b, of a comparison with a 0 that the plan has there the size of the other side. It compares judgements of
	// one expression only; of several runs it is that of the one whose operands these are. nil where it is not known.
	Distance *float64 `json:"distance,omitempty"`
}

// An Operand is a sub-expression with its value as text.
type Operand struct{ Text, Value string }

// A RunJudgement is the outcome for one run (or round) of `each: run`.
type RunJudgement struct {
	Round    int       `json:"round"`
	Repeat   int       `json:"repeat"`
	Outcome  string    `json:"outcome"`
	Label    string    `json:"label,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Operands []Operand `json:"operands,omitempty"`
}
