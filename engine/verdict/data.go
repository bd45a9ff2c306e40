package verdict

// Data is what the runs left.
type Data struct {
	Cells map[Coord]*Cell
	Names map[string]any // values of Schema.Names that were not known before
}

// Cell is what became of a cell.
type Cell struct {
	State   State
	Reason  string // for every State but Ran
	Planned int    // runs that were planned; 0: as many as there are
	Runs    []*Run
	Names   map[string]any // as in Data, where they differ between cells
	// Whole are figures of all runs together whose values in single runs are not known: metric -> the cell's value. In its
	// runs they are absent.
	Whole map[string]float64
}

// State says whether a cell ran.
type State uint8

const (
	Ran     State = iota
	LeftOut       // by --only or --skip: it does not count
	Skipped       // unsupported, a missing program, a `when` that is false: verdicts on it are unsupported
	Failed        // its installation failed: verdicts on it are errors
)

// Run is one run of a cell. A figure that is not in its map is missing; NaN and infinities are undefined.
type Run struct {
	Round, Repeat int             // from 1
	Installed     string          // the installation that it was on; "": not known
	Ranked        map[string]bool // metrics of which it is not known which run gave which value: see Part.unpaired
	Outcome       Outcome         // "", or Inconclusive (its require did not hold) or Errored (the harness failed): then nothing can be read
	Reason        string          // for an Outcome
	Metrics       Figures
	Absent        map[string]string  // why a metric is missing, where that is known
	Phases        map[string]*Window // Start and Seconds are those of the phase
	Loads         map[string]*Window
	Answers       map[string]float64                 // by who gave them; nil: nothing counted
	Samples       Samples                            // nil: there are none
	Replicas      func() map[string][]map[string]any // nil: there are none; process -> replicas -> metric -> float64 or []float64
	Taints        []Taint
	Names         map[string]any // as in Data, where they differ between runs
}

// Figures have a value for each metric that is not missing.
type Figures interface {
	Get(name string) (v float64, ok bool)
}

// Numbers are figures by name.
type Numbers map[string]float64

// Get gives one of them.
func (n Numbers) Get(name string) (float64, bool) {
	v, ok := n[name]
	return v, ok
}

// figure gives one of the window's; nil Metrics have none.
func (w *Window) figure(name string) (float64, bool) {
	if w.Metrics == nil {
		return 0, false
	}
	return w.Metrics.Get(name)
}

// replicas gives the figures of each replica of a process.
func (r *Run) replicas(process string) []map[string]any {
	if r.Replicas == nil {
		return nil
	}
	return r.Replicas()[process]
}

// Window is a part of a run: a phase, a load, or a load in a phase.
type Window struct {
	Start, Seconds float64
	Metrics        Figures
	Answers        map[string]float64 // as in Run
	Loads          map[string]*Window
}

// Series are samples in ascending order of time, in seconds.
type Series struct {
	Name string
	T, V []float64
}

// Event is something that happened, At in seconds since its run began.
type Event struct {
	At      float64
	Process string
	Detail  string
}

// TaintClass says what a guard spoils.
type TaintClass string

const (
	Timing TaintClass = "timing" // latencies, rates and CPU figures
	Work   TaintClass = "work"   // everything
	Passes TaintClass = "passes" // everything that would pass: what failed did, because the target is the cause
)

// Taint is a failed guard of one run. Phase and Load narrow it; empty, it taints the whole run. A figure without a load is
// of all loads, unless this one is out of the headline (Aside).
type Taint struct {
	Guard, Message string
	Class          TaintClass
	Phase, Load    string
	Aside          bool
}

func (t Taint) spoils(r Read) bool {
	if t.Aside && t.Load != r.Load {
		return false
	}
	return (t.Class == Work || t.Class == Passes || r.Class.timed()) && (t.Phase == "" || r.Phase == "" || t.Phase == r.Phase) &&
		(t.Load == "" || r.Load == "" || t.Load == r.Load)
}

// Read is one figure that an evaluation looked at.
type Read struct {
	Cell        Coord
	Metric      string // or the series; "events KIND"
	Phase, Load string
	Class       Class
	runs        []*Run
}

// Tainted is a failed guard of a run that was read.
type Tainted struct {
	Taint
	Cell          Coord
	Round, Repeat int
	Metric        string
}
