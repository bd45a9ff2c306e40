package record

// Facts are readings taken once for guards and reconciliation.
type Facts struct {
	// Servers holds the last sample of each builtin server, as cumulative counters over the run: "web/0" -> "requests" -> n.
	Servers map[string]map[string]float64 `json:"servers,omitempty"`
	// ClockStep is how far the wall clock moved against the monotonic clock during the run, in seconds.
	ClockStep float64 `json:"clock_step"`
	// Faults lists each toxic that was in force, with what passed under it.
	Faults []Fault `json:"faults,omitempty"`
	// Changes lists each change of backends and routes, in the order in which they were made.
	Changes []Change `json:"changes,omitempty"`
	// ProbeGaps counts samples that a probe missed, by probe.
	ProbeGaps map[string]int `json:"probe_gaps,omitempty"`
	// Lost counts lines or bytes that could not be written.
	Lost int `json:"lost,omitempty"`
	// Harness lists what did not work of the harness itself.
	Harness []string `json:"harness,omitempty"`
}

// A Fault as the relay counted it.
type Fault struct {
	Relay       string  `json:"relay"`
	Toxic       string  `json:"toxic"`
	Phase       string  `json:"phase"`
	Start       float64 `json:"start"`
	End         float64 `json:"end"`
	Connections int64   `json:"connections"` // that were open while it was in force, for some time at least
	Bytes       int64   `json:"bytes"`
	AskedMs     float64 `json:"asked_ms,omitempty"`
	MeasuredMs  float64 `json:"measured_ms,omitempty"` // mean added delay
}

// A Change of a backend's replicas or of a route, as it was made.
type Change struct {
	Kind      string   `json:"kind"` // scale, add-route, remove-route, toggle-route
	What      string   `json:"what"` // in words: scale web 4 -> 8
	Phase     string   `json:"phase"`
	Action    string   `json:"action,omitempty"` // the name of the action that made it
	Start     float64  `json:"start"`            // when it began, behind the change before; of one that was not made, when that was known
	End       float64  `json:"end"`
	Unmade    bool     `json:"unmade,omitempty"`    // its phase ended before its turn; Why says behind what
	Nothing   bool     `json:"nothing,omitempty"`   // it was so already
	Arrived   bool     `json:"arrived"`             // the target was seen to serve it
	Served    float64  `json:"served_ms,omitempty"` // milliseconds from the beginning of telling the target until it served the change
	Why       string   `json:"why,omitempty"`       // it was not seen to arrive
	Came      []string `json:"came,omitempty"`      // replicas that were started: web/4
	Left      []string `json:"left,omitempty"`      // replicas that were ended
	Unseen    []string `json:"unseen,omitempty"`    // of Came, those that got no request while they were there
	Uncounted bool     `json:"uncounted,omitempty"` // they do not count their requests
}
