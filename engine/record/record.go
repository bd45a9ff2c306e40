// Package record is the result set on disk: what a plan run leaves, and all that reports, verdicts and comparisons need.
//
//	plan.yaml         the plan as resolved, secrets redacted; loads again by itself
//	sources/          the files that it was made of
//	environment.json  Environment
//	journal.jsonl     what would undo each change (package journal)
//	stages/NAME-ROUND.json   Stage: what a stage's expressions gave when it began
//	runs/ID/run.json         Run: the truth about one run
//	runs/ID/series.jsonl     one line a sample: a series.Point, or {"load": load.Second without histograms}
//	runs/ID/latency.hlog     HdrHistogram log; a tag is LOAD/PHASE/WHAT, WHAT one of latency, service, lag, connect, tls;
//	                         names are escaped as in a URL's path, times are seconds since the run began
//	runs/ID/events.jsonl     one Event a line
//	installs/ID/             rendered files, command lines (commands.jsonl), logs of an installation
//	end.json          End: how it all ended; not there if planrun was killed
//	results.json      Results: a cache of what a report needs, made again from the runs; it has the digest of theirs
//	report.md, report.html
//
// A second of a load is added up over its workers. Its line names the time of its histograms in the log ("at", in
// milliseconds) and what the log does not hold of them ("hist": how many, exact minimum and maximum, how many above the
// range). It may come in parts, when answers are late; the reader adds them up.
//
// Lines are appended and flushed once a second, so that a killed engine loses at most the current second of the current
// run; a torn last line is dropped by the reader, which says so. Numbers are never NaN or infinite: what is undefined is
// left out.
package record

import (
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// Version of the format.
const Version = 1

// Status is how a run ended.
type Status string

// Done runs have results, aborted ones too (the plan's own abort condition held). The others say why they have none, or
// only some.
const (
	Done        Status = "done"
	Aborted     Status = "aborted"     // `abort` held: a result
	Unmet       Status = "unmet"       // `require` was false: inconclusive
	Failed      Status = "failed"      // an install or an action failed: error
	Unsupported Status = "unsupported" // said by the plan, or a program is missing
	Skipped     Status = "skipped"     // `when` is false, or --only/--skip
	Interrupted Status = "interrupted"
	Unfinished  Status = "unfinished" // the engine died: there is no run.json end
)

// HasResults is true for what ended with numbers that count.
func (s Status) HasResults() bool { return s == Done || s == Aborted }

// Words says a status in words, with its reason if there is one.
func (s Status) Words(reason string) string {
	words := map[Status]string{
		Done:        "done",
		Aborted:     "ended early by its abort condition",
		Unmet:       "a requirement was not met",
		Failed:      "error",
		Unsupported: "unsupported",
		Skipped:     "skipped",
		Interrupted: "interrupted",
		Unfinished:  "unfinished: the engine died",
	}[s]
	if words == "" {
		words = "no result"
	}
	if reason != "" {
		words += ": " + reason
	}
	return words
}

// A Run is the truth about one run. Times are seconds since its Start.
type Run struct {
	Version    int                 `json:"version"`
	ID         string              `json:"id"` // its directory
	Coord      Coord               `json:"coord"`
	Status     Status              `json:"status"`
	Reason     string              `json:"reason,omitempty"`
	Where      string              `json:"where,omitempty"` // file:line:col of what Reason is about
	Unreadable bool                `json:"-"`               // what was recorded of it is there, and not to be read
	sum        []byte              // of its run.json as it was read; nil of one that was not read whole
	Start      time.Time           `json:"start"`
	Seconds    float64             `json:"seconds"`
	Install    string              `json:"install,omitempty"`     // the installation's directory
	SetHistory bool                `json:"set_history,omitempty"` // an earlier scenario ran on the same process set: peaks may be its
	Params     map[string]any      `json:"params,omitempty"`
	With       map[string]any      `json:"with,omitempty"`
	Phases     []Phase             `json:"phases"`
	Actions    []Action            `json:"actions"`
	Loads      []Load              `json:"loads,omitempty"`
	Values     map[string]any      `json:"values,omitempty"` // of `record:` and `exec`
	Processes  []Process           `json:"processes,omitempty"`
	Facts      Facts               `json:"facts"`
	Recovery   *Recovery           `json:"recovery,omitempty"`    // as its scenario says; nil: DefaultRecovery
	Files      map[string]int64    `json:"files,omitempty"`       // bytes of series.jsonl, latency.hlog and events.jsonl when it ended
	Examples   []string            `json:"examples,omitempty"`    // of errors
	Series     []series.SeriesDesc `json:"series,omitempty"`      // of the probes that watched
	ValueDescs []series.Desc       `json:"value_descs,omitempty"` // of Values that are metrics
	Published  *Published          `json:"published,omitempty"`   // its values were published by others: nothing was run
	// Derived by package measure; made again from the rest when missing.
	Metrics Windows                      `json:"metrics,omitempty"` // window -> metric -> value; see Window
	Missing map[string]string            `json:"missing,omitempty"` // metric of the headline, or WINDOW/metric -> why it has no value
	Answers map[string]map[string]int64  `json:"answers,omitempty"` // window -> who answered (the value of the header that loads count by) -> answers
	Texts   map[string]map[string]string `json:"texts,omitempty"`   // window -> name -> what is said in words: tls_version, or a text that an action set
	LeftOut []LeftOut                    `json:"left_out,omitempty"`
	Guards  []Guard                      `json:"guards,omitempty"`
	Checks  []Guard                      `json:"checks,omitempty"` // self-checks: the harness itself
}

// Recovery says when a target is back from a fault.
type Recovery struct {
	Rate    float64 `json:"rate"`     // least share of the rate before
	P99     float64 `json:"p99"`      // the p99 at most, as a multiple of the one before
	SlackMs float64 `json:"slack_ms"` // or so much more than it, in milliseconds
	HoldS   float64 `json:"hold_s"`   // for how long it must stay, in seconds
}

// DefaultRecovery is that of a scenario which says nothing.
var DefaultRecovery = Recovery{Rate: 0.9, P99: 2, SlackMs: 5, HoldS: 3}

// Published is what a run of published figures has beside its Values, which are those that are known of this run alone.
type Published struct {
	// Whole are figures of all runs of the cell together whose values in single runs are not known: metric -> statistic
	// (median, min, max, sum, mean) -> value. Every run of the cell has the same.
	Whole map[string]map[string]float64 `json:"whole,omitempty"`
	// Ranked are metrics of which only the values of the runs are known (their least, median and greatest), not which run
	// gave which: the runs have them in ascending order.
	Ranked []string `json:"ranked,omitempty"`
}

// LeftOut is a second that the clean latencies of the headline are without.
type LeftOut struct {
	T     float64 `json:"t"`               // its begin
	Phase string  `json:"phase,omitempty"` // the phase of which it is: at the phase's edges less than a second is
	Why   string  `json:"why"`
}

// Windows of a run's metrics are named: "" is the headline, "phase/NAME" a phase, "load/NAME" a load over the headline
// phases, "phase/NAME/load/NAME" a load in a phase, "replica/PROCESS/N" one replica over the headline phases,
// "cross-check/LOAD/GENERATOR" what another generator measured after them, and "cross-check/LOAD/planrun" what it is held
// against.

// A Phase as it was. Recorded is false for install and warm-up; Headline marks the headline window.
type Phase struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Start    float64 `json:"start"`
	End      float64 `json:"end"`
	For      float64 `json:"for,omitempty"` // its length as asked; 0: as long as its actions took
	Recorded bool    `json:"recorded"`
	Headline bool    `json:"headline"`
	Ended    string  `json:"ended,omitempty"` // why before its time: until, abort, interrupted, error
}

// An Action as it happened.
type Action struct {
	Phase string  `json:"phase"`
	Kind  string  `json:"kind"`
	Name  string  `json:"name"`
	Where string  `json:"where"` // file:line:col
	Due   float64 `json:"due"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Error string  `json:"error,omitempty"`

	Optional bool `json:"optional,omitempty"` // the run went on without it if it has an Error
	Never    bool `json:"never,omitempty"`    // it did not begin: its phase was over before it was due, which Start and End say then
}

// A Load is one load action: what it was told, and what its workers said in the end.
type Load struct {
	Name     string                 `json:"name"`
	Headline bool                   `json:"headline"`
	Spec     load.Spec              `json:"spec"`
	Workers  int                    `json:"workers"`
	CPUs     []int                  `json:"cpus,omitempty"`
	Start    float64                `json:"start"`             // time zero of the workers' seconds
	End      float64                `json:"end"`               // when its drain was over
	Ready    load.Ready             `json:"ready"`             // added up
	Stopped  float64                `json:"stopped,omitempty"` // when it was told to stop: nothing is due from then on; 0 is not known
	Final    bool                   `json:"final"`             // every worker reported its last sample
	Reported int                    `json:"reported"`          // workers that reported at all
	Totals   map[string]load.Counts `json:"totals"`            // by phase (or Between), added up over workers

	CrossChecks []CrossCheck `json:"cross_checks,omitempty"` // what other generators saw, in the order of the plan
}

// A Process that took part.
type Process struct {
	Name       string         `json:"name"`
	Role       string         `json:"role"`
	Replica    int            `json:"replica"`
	PID        int            `json:"pid"`
	Command    []string       `json:"command"`
	CPUs       []int          `json:"cpus,omitempty"` // as verified
	WantCPUs   []int          `json:"want_cpus,omitempty"`
	Limits     *Limits        `json:"limits,omitempty"` // as verified when the run began
	WantLimits *Limits        `json:"want_limits,omitempty"`
	Ports      map[string]int `json:"ports,omitempty"`
	Died       string         `json:"died,omitempty"`
}

// A Guard or self-check of a run. Taints says what it spoils when it did not hold: "timing", "work" (everything), "passes"
// (everything, but what fails stands), or "" for a warning only.
type Guard struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Taints  string `json:"taints,omitempty"`
	Message string `json:"message"` // what was seen against which threshold, in words
	Load    string `json:"load,omitempty"`
	Seen    *Seen  `json:"seen,omitempty"` // of the generator's CPU and its own delay, and of the machine's CPU
}

// Seen is in numbers what a guard of a load generator or of its machine saw in the headline phases, whether it held or not. Of a
// guard that does not look at something it is zero.
type Seen struct {
	Cores   float64 `json:"cores,omitempty"`   // CPU time by time
	CPUs    int     `json:"cpus,omitempty"`    // that the load may run on
	Waited  float64 `json:"waited,omitempty"`  // share of the time during which a worker was ready to run without a CPU
	Delay   float64 `json:"delay,omitempty"`   // the longest own delay in sending, in milliseconds
	P99     float64 `json:"p99,omitempty"`     // of the answers, in milliseconds
	Above   int     `json:"above,omitempty"`   // seconds in which that delay was above that p99
	Late    float64 `json:"late,omitempty"`    // share of the requests that that delay held up for longer than that p99, at most
	May     float64 `json:"may,omitempty"`     // the highest such share of which the guard does not warn
	Foreign float64 `json:"foreign,omitempty"` // share of the machine's CPUs that what the plan did not start used
}

// An Event is something that happened.
type Event struct {
	T       float64        `json:"t"`
	Kind    string         `json:"kind"` // exit, oom, restart, change, replica, reload, fault, phase, abort, note, ...
	Message string         `json:"message"`
	Fields  map[string]any `json:"fields,omitempty"`
}

// A Stage is what a stage's expressions gave when it began.
type Stage struct {
	Name  string    `json:"name"`
	Round int       `json:"round"`
	Start time.Time `json:"start"`
	Order string    `json:"order"`
	Seed  uint64    `json:"seed,omitempty"`
	// Together is true if all targets stayed installed during it. Without are the probes that it left out ("all" are all): it
	// is then the control arm of observation, and no repeat of a stage that has them.
	Together bool              `json:"together,omitempty"`
	Without  []string          `json:"without,omitempty"`
	Rounds   int               `json:"rounds,omitempty"`  // of the stage, as it was known when this one began
	Planned  map[string]int    `json:"planned,omitempty"` // cell (stage/target/scenario[axis=value]) -> runs of it that were to be in this round
	Params   map[string]any    `json:"params,omitempty"`
	Tainted  map[string]string `json:"tainted,omitempty"` // param -> guard that taints what it was computed from
}

// An End says how a plan run ended, apart from its runs.
type End struct {
	Interrupted bool     `json:"interrupted,omitempty"`
	Failure     string   `json:"failure,omitempty"`    // of the harness, outside of a run
	NotUndone   []string `json:"not_undone,omitempty"` // changes that could not be undone
}

// Data is one run with everything that was recorded of it.
type Data struct {
	Run     *Run
	Points  []series.Point
	Seconds []load.Second // with histograms
	Events  []Event
	Notes   []string // what the reader had to leave out (a torn line)
}
