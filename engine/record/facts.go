package record

import "cmp"

// Facts are readings taken once for guards and reconciliation.
type Facts struct {
	// Servers holds the last sample of each builtin server, as cumulative counters over the run: "web/0" -> "requests" -> n.
	Servers map[string]map[string]float64 `json:"servers,omitempty"`
	// ClockStep is how far the wall clock moved against the monotonic clock during the run, in seconds.
	ClockStep float64 `json:"clock_step"`
	// Faults lists each fault that was in force, with what shows that it was.
	Faults []Fault `json:"faults,omitempty"`
	// RelaysLeft lists what each relay in the path still held when the loads had ended.
	RelaysLeft []RelayLeft `json:"relays_left,omitempty"`
	// Changes lists each change of backends and routes, in the order in which they were made.
	Changes []Change `json:"changes,omitempty"`
	// ProbeGaps counts samples that a probe missed, by probe.
	ProbeGaps map[string]int `json:"probe_gaps,omitempty"`
	// Lost counts lines or bytes that could not be written.
	Lost int `json:"lost,omitempty"`
	// Harness lists what did not work of the harness itself.
	Harness []string `json:"harness,omitempty"`
}

// A Fault that was in force, from Start to End. Of a toxic it is what the relay counted; others have a Kind.
type Fault struct {
	Kind   string `json:"kind,omitempty"`   // that of the action: drop, pause, signal, limit; "" of a toxic
	What   string `json:"what,omitempty"`   // of others than toxics, in words: pause of web/0
	Action string `json:"action,omitempty"` // of others than toxics: the name of the action that made it

	Relay string  `json:"relay,omitempty"`
	Toxic string  `json:"toxic,omitempty"` // its kind: latency, bandwidth, reset-after, ...
	Says  string  `json:"says,omitempty"`  // what was asked for, in words: latency of 20ms
	Phase string  `json:"phase"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Gone  string  `json:"gone,omitempty"` // why it was not in force all the time

	// Server is the server of others that the toxic was on, in words. What it did is not known then: Connections, Chunks and Bytes are
	// what passed planrun's own relay in front of the server's meanwhile.
	Server string `json:"server,omitempty"`

	Connections int64 `json:"connections"`       // on which it acted
	Chunks      int64 `json:"chunks,omitempty"`  // pieces that came to it
	Bytes       int64 `json:"bytes"`             // that came to it
	Held        int64 `json:"held,omitempty"`    // of these bytes, those that it let wait or swallowed
	Resets      int64 `json:"resets,omitempty"`  // connections that it reset
	Closed      int64 `json:"closed,omitempty"`  // connections that it ended in order
	Refused     int64 `json:"refused,omitempty"` // connections that found nobody listening
	Inexact     bool  `json:"inexact,omitempty"` // of Refused: resets of the whole system were counted, there may be others among them

	// The effect: what was asked for, and what was measured where it happened, in the same unit: the mean delay or the time
	// until the end in ms, a rate in B/s, the mean size of pieces or the bytes before the end in B. Unit is empty where
	// nothing can be compared.
	Unit     string  `json:"unit,omitempty"`
	Asked    float64 `json:"asked,omitempty"`
	Spread   float64 `json:"spread,omitempty"` // the standard deviation that was asked for
	Measured float64 `json:"measured,omitempty"`
	Of       int64   `json:"of,omitempty"` // of how many pieces, connections or bytes; 0: there was nothing to measure

	// Of others than toxics.
	Share    float64 `json:"share,omitempty"`     // of drop: which share of the packets was to be dropped, from 0 to 1
	Packets  int64   `json:"packets,omitempty"`   // of drop: those that it was about
	Dropped  int64   `json:"dropped,omitempty"`   // of drop: those of them that were dropped
	StoppedS float64 `json:"stopped_s,omitempty"` // of pause: seconds for which everything was seen to be stopped
	Seen     string  `json:"seen,omitempty"`      // in words, what else shows that it was in force

	// Unreached says of a limit that what it limits was never used up: it was in force, and nobody can have felt it.
	Unreached bool `json:"unreached,omitempty"`
}

// Name says in words which fault it is.
func (f Fault) Name() string {
	if f.What != "" {
		return f.What
	}
	return cmp.Or(f.Says, f.Toxic) + " on " + f.Relay
}

// RelayLeft is what a relay counted when the loads had ended and its connections had been given time to close.
type RelayLeft struct {
	Relay  string  `json:"relay"` // with its replica: slow_web/0
	Opened int64   `json:"opened"`
	Live   int64   `json:"live"`
	After  float64 `json:"after_s"`       // seconds since the run's last phase ended
	Why    string  `json:"why,omitempty"` // it did not say
}

// A Change of a backend's replicas or of a route, as it was made.
type Change struct {
	Kind      string   `json:"kind"` // scale, add-route, remove-route, toggle-route
	What      string   `json:"what"` // in words: scale web 4 -> 8
	Phase     string   `json:"phase"`
	Backend   string   `json:"backend,omitempty"`
	Gone      bool     `json:"gone,omitempty"`   // it has no replica from then on
	Action    string   `json:"action,omitempty"` // the name of the action that made it
	Start     float64  `json:"start"`            // when it began, behind the change before; of one that was not made, when that was known
	End       float64  `json:"end"`
	Unmade    bool     `json:"unmade,omitempty"`    // its phase ended before its turn; Why says behind what
	Nothing   bool     `json:"nothing,omitempty"`   // it was so already
	Arrived   bool     `json:"arrived"`             // the target was seen to serve it
	Served    float64  `json:"served_ms,omitempty"` // milliseconds from the beginning of telling the target until it served the change
	Why       string   `json:"why,omitempty"`       // it was not seen to arrive
	Refused   bool     `json:"refused,omitempty"`   // the target did not take it; Why says what it answered
	Came      []string `json:"came,omitempty"`      // replicas that were started: web/4
	Left      []string `json:"left,omitempty"`      // replicas that were ended
	Unseen    []string `json:"unseen,omitempty"`    // of Came, those that got no request while they were there
	Uncounted bool     `json:"uncounted,omitempty"` // they do not count their requests
}
