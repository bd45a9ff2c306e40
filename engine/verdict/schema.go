package verdict

// Schema is what is known of a plan before anything runs. The engine fills it; the compiler only reads it.
type Schema struct {
	Stages    []Stage
	Scenarios map[string]*Scenario
	Targets   []Target
	Params    map[string]Param // params.NAME
	Names     []Name           // every other name of the plan: dir, with.x, vars.x, cpus.sut, backends.web.address, host.x
	Functions []Function       // such as port("http")
	// DistortedAbove is the part of failed or slow requests above which ratio() of latencies is undefined; 0 means 0.001.
	DistortedAbove float64
}

// Stage is an entry of the schedule.
type Stage struct {
	Name      string
	Scenarios []string
	Targets   []string // nil: all
	Rounds    int      // 0: not known yet
	Without   []string // probes that it leaves out
}

// Scenario is what the runs of a scenario will have.
type Scenario struct {
	Metrics  []Metric            // of every target; what only some have is in Target.Metrics
	Phases   []string            // phase("x") offers the same metrics
	Loads    map[string][]Metric // load("x")
	Answers  []string            // loads that count by who answered; "" if one of the headline does
	Series   []Metric            // series("x"); Class and Name count
	Events   []string            // kinds for events("x")
	Axes     []Axis              // of its matrix
	Replicas map[string][]Metric // replicas("process")
}

// Axis is one axis of a matrix.
type Axis struct {
	Name   string
	Values []any // number, text or bool
}

// Target is a thing under test.
type Target struct {
	Name        string
	Missing     string              // why it cannot run here (no such program); it is no member of `targets` then
	Unsupported map[string]string   // scenario -> why its cells are skipped
	Metrics     map[string][]Metric // scenario -> metrics that this target has beside the scenario's; "" is every scenario
}

// Metric describes a number of a run, or of a replica.
type Metric struct {
	Name   string
	Class  Class
	Across Across
	List   bool // of replicas only: a list a replica, such as connections by worker
}

// Class says what kind of figure a metric is: which guards taint it.
type Class uint8

const (
	OtherClass Class = iota // sizes, descriptors, ...: tainted by guards of work done
	Count                   // outcome counts: tainted by guards of work done
	Latency                 // also tainted by guards of timing, and distorted by failures
	Rate                    // also tainted by guards of timing
	CPU                     // also tainted by guards of timing
)

func (c Class) timed() bool { return c == Latency || c == Rate || c == CPU }

// Across says how one number is made of the numbers of a cell's runs.
type Across uint8

const (
	ByMedian Across = iota
	BySum           // counters
	ByMax           // peaks
	ByMean
)

// Param is a value of `params`.
type Param struct {
	Value  any  // nil: not known yet
	Type   Type // used where Value is nil
	Known  Time // AtPlan (also the zero value), AtStage or AtRun: the time of its own expression
	Secret bool // explanations hide it
}

// Name is a name that expressions may read, with dots where it has parts.
type Name struct {
	Name   string
	Type   Type // used where Value is nil
	In     Time // the times that know it; see Since
	Value  any  // a value that is already known; else Values.Names has it
	Secret bool
	Values []string // what a literal that it is compared with may be; nil: anything
	Doc    string
}

// Function is a function of the plan, such as port("http"); Values.Call answers it.
type Function struct {
	Name   string
	In     Time
	Args   []Type
	Result Type
	Names  []string // what its first argument may be, where that is a literal; nil: anything
	Doc    string
}
