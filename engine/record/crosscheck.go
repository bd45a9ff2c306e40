package record

// A CrossCheck is what another load generator saw at the endpoint of a load, after the phases of the run.
type CrossCheck struct {
	Generator string   `json:"generator"`         // fortio, h2load, vegeta, wrk
	Version   string   `json:"version,omitempty"` // as it says
	NotRun    string   `json:"not_run,omitempty"` // why there are no figures, in words
	Method    string   `json:"method,omitempty"`  // how it measures and what it does otherwise than the load, in words
	Command   []string `json:"command,omitempty"` // the one that sends
	Start     float64  `json:"start,omitempty"`   // since the run began
	End       float64  `json:"end,omitempty"`
	Figures   *Figures `json:"figures,omitempty"`
}

// Figures are what a load generator measured. Latencies are of the service, from the sending of a request to the end of
// its answer, in milliseconds; nil is what it does not tell.
type Figures struct {
	Requests int64    `json:"requests"` // that came to an end
	Failed   int64    `json:"failed"`
	ReqPerS  float64  `json:"req_per_s"` // answered as expected
	P50      *float64 `json:"p50_ms,omitempty"`
	P90      *float64 `json:"p90_ms,omitempty"`
	P99      *float64 `json:"p99_ms,omitempty"`
	P999     *float64 `json:"p99_9_ms,omitempty"`

	Otherwise string `json:"otherwise,omitempty"` // why its latencies are of something else than the load's own, in words
}
