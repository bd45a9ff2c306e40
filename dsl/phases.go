package dsl

import "time"

// Duration is the type of durations in the plan.
type Duration = time.Duration

// A Scenario is a named sequence of phases.
type Scenario struct {
	About    string        `yaml:"about" hole:"no" doc:"what it shows"`
	Use      string        `yaml:"use" hole:"no" doc:"another scenario that this one builds on"`
	Repeats  int           `yaml:"repeats" eval:"stage" default:"1" min:"1" max:"10000" doc:"runs of each cell in a round of its stage"`
	Matrix   Map[[]Value]  `yaml:"matrix" keys:"ident" eval:"plan" doc:"axes with their values: a cell for each combination, matrix.AXIS in expressions"`
	Vars     Map[Value]    `yaml:"vars" keys:"ident" merge:"replace" doc:"values for its own phases, vars.NAME in expressions"`
	With     Map[Knob]     `yaml:"with" keys:"ident" eval:"stage" doc:"knobs of the target that it overrides; a target without such a knob is unsupported there"`
	Limits   Map[Limits]   `yaml:"limits" doc:"limits by role"`
	Relays   Strings       `yaml:"relays" hole:"no" ref:"relays" doc:"relays that are in the path"`
	Fresh    string        `yaml:"fresh" hole:"no" enum:"target|scenario|run" doc:"overrides the plan's fresh"`
	Recovery Recovery      `yaml:"recovery" doc:"when a target counts as back from a fault, for the metrics recovery_s and not_recovered"`
	When     Expr          `yaml:"when" eval:"select" doc:"cells for which this is false are left out"`
	Phases   []Part[Phase] `yaml:"phases" min:"1" doc:"its phases, one after another"`
	Figures  Strings       `yaml:"figures" hole:"no" min:"1" doc:"instead of phases, in a plan of published figures: the metrics that were published of it, as planrun calls them or as metrics declares them"`
}

// Recovery says when a target is back from a fault: single seconds are held against the median of those before it.
type Recovery struct {
	Rate  Percent  `yaml:"rate" default:"90%" min:"0%" max:"100%" doc:"least share of the rate before the fault; of open loops, of the share of due requests that succeeded then"`
	P99   Percent  `yaml:"p99" default:"200%" min:"100%" doc:"highest p99 of a second, of the p99 before the fault"`
	Slack Duration `yaml:"slack" default:"5ms" min:"0s" doc:"a p99 that is higher by no more than this counts as back too: twice next to nothing is noise"`
	Hold  Duration `yaml:"hold" default:"3s" min:"1s" doc:"for how long both must stay so; whole seconds"`
}

// PhaseKinds are the kinds of phases, each with its documentation.
var PhaseKinds = []struct{ Name, Doc string }{
	{"install", "Prepares what the target does not; kept and tagged, but in no window."},
	{"warm-up", "Brings everything up to temperature; kept and tagged, but in no window."},
	{"load", "A recorded window under load."},
	{"churn", "A recorded window in which backends or routes come and go."},
	{"fault", "A recorded window in which something is broken."},
	{"measure", "The headline window: where a scenario has measure phases, its rates and latencies are of these."},
}

// A Phase is a window of time with actions.
type Phase struct {
	Kind    string         `yaml:"-"` // one of PhaseKinds
	Name    string         `yaml:"name" hole:"no" doc:"its name; left out: its kind"`
	For     Duration       `yaml:"for" min:"1ms" doc:"its length; its actions run side by side, each at its at; left out: they run one after another and the phase ends with the last"`
	Do      []Part[Action] `yaml:"do" doc:"its actions"`
	Until   Expr           `yaml:"until" eval:"live" doc:"ends the phase early; reads the phase so far"`
	Require Expr           `yaml:"require" eval:"live" doc:"judged on the finished phase: if false the run is inconclusive and the rest of it is skipped. Loads go on meanwhile, for up to a second or as long as answers of the phase are late: what is due then is of neither phase, and counts in the outcomes of the run (failed, requests) if this phase is recorded"`
	Abort   Abort          `yaml:"abort" doc:"ends the run early, as a result"`
}

// An Abort ends a run early.
type Abort struct {
	When  Expr     `yaml:"when" short:"true" required:"true" eval:"live" doc:"reads the last second"`
	After Duration `yaml:"after" default:"0s" min:"0s" doc:"how long it must hold"`
}

// An Action is something that a phase, an installation or the setup does.
type Action struct {
	Kind    string         `yaml:"-"` // the name of its kind
	Spec    any            `yaml:"-"` // as New of its kind made it; nil while its whole value is an unfilled hole
	Name    string         `yaml:"name" hole:"no" doc:"its name in the timeline, in load(NAME) and in problems; left out: its kind"`
	At      At             `yaml:"at" doc:"when it starts in its phase: a duration, or a percentage of the phase's length"`
	Every   Duration       `yaml:"every" min:"1ms" doc:"repeats it: first at at, then at fixed due times; it never overlaps itself"`
	For     Duration       `yaml:"for" min:"1ms" doc:"how long it lasts; left out: the rest of the phase"`
	Through string         `yaml:"through" hole:"no" doc:"the phase with which it ends, if not its own"`
	Undo    []Part[Action] `yaml:"undo" doc:"what undoes it, for exec, http and signal"`

	Optional bool `yaml:"optional" hole:"no" doc:"of exec, http and signal: if it cannot be done, because a program is not installed for instance, the report says so and the run goes on"`
}

// A Probe samples something at an interval.
type Probe struct {
	Kind  string   `yaml:"-"` // the name of its kind
	Spec  any      `yaml:"-"` // as New of its kind made it
	Name  string   `yaml:"name" hole:"no" doc:"its name, for schedule probes.without; left out: its kind"`
	Of    string   `yaml:"of" doc:"what it watches: a process, a backend, a relay, else a role"`
	Every Duration `yaml:"every" default:"1s" min:"10ms" doc:"the interval"`
}
