package actions

import (
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var rampKind = later("ramp", "it comes with proxy capacity", "Hold more and more idle connections, in steps, until a step cannot be completed, and say why it could not.", func() any { return &ramp{} })

type ramp struct {
	Load        string       `yaml:"load" required:"true" ref:"loads" doc:"the load whose connections are opened; each sends one request and then waits"`
	Connections []int        `yaml:"connections" required:"true" min:"1" doc:"connections held at each step"`
	Hold        dsl.Duration `yaml:"hold" default:"10s" min:"0s" doc:"how long each step is held"`
	ConnectRate dsl.Rate     `yaml:"connect-rate" min:"1" doc:"connections opened a second; left out: as fast as they are accepted"`
	ProbeEvery  dsl.Duration `yaml:"probe-every" default:"1s" min:"10ms" doc:"how often an honest request on a connection of its own is timed"`
	Sources     dsl.Strings  `yaml:"sources" doc:"source addresses or networks; each has about 28,000 ports; left out: one"`
}

// Check finds what the types do not.
func (r *ramp) Check(c *dsl.Check) {
	for i, n := range r.Connections {
		if n < 1 {
			c.Errorf("connections", "a step holds at least 1 connection, have %d", n)
		} else if i > 0 && n <= r.Connections[i-1] {
			c.Errorf("connections", "%d does not come after %d: steps rise", n, r.Connections[i-1])
		}
	}
}

// Declares the metrics of a ramp.
func (r *ramp) Declares() task.Declaration {
	top := 0
	for _, n := range r.Connections {
		top = max(top, n)
	}
	return task.Declaration{
		Metrics: []series.Desc{
			{Name: "connections_held", Better: series.Higher, Across: series.Median, Class: series.Count, Doc: "connections of the highest step that was completed"},
			{Name: "probe_p99_ms", Unit: "ms", Better: series.Lower, Across: series.Median, Class: series.Timing, Doc: "p99 of the honest request on the side"},
			{Name: "sut_rss_kib_per_connection", Unit: "KiB", Better: series.Lower, Across: series.Median, Class: series.Count, Doc: "memory that a held connection costs the target"},
		},
		Values: []string{"stopped_by"},
		Uses:   []task.Use{{Kind: "load", Name: r.Load, Field: "load"}},
		Needs:  task.Needs{Connections: top, Descriptors: top, Ports: top},
	}
}
