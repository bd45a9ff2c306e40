package actions

import (
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var attackKind = later("attack", "it comes with proxy capacity", "Be a hostile client until the phase ends. It goes only where load may go.", func() any { return &attack{} })

type attack struct {
	Slowloris      *slowloris      `yaml:"slowloris" kind:"true" doc:"request headers that never end, one at a time"`
	SlowRead       *slowRead       `yaml:"slow-read" kind:"true" doc:"answers that are read very slowly"`
	LargeTransfers *largeTransfers `yaml:"large-transfers" kind:"true" doc:"large bodies"`
	RapidReset     *rapidReset     `yaml:"rapid-reset" kind:"true" doc:"HTTP/2 streams that are reset at once"`
}

type slowloris struct {
	Endpoint    string       `yaml:"endpoint" default:"http" doc:"the endpoint of the target"`
	Connections int          `yaml:"connections" required:"true" min:"1" doc:"connections, held open; those that the target closes are opened again"`
	HeaderEvery dsl.Duration `yaml:"header-every" default:"5s" min:"1ms" doc:"how often another header is sent on each"`
}

type slowRead struct {
	Endpoint    string       `yaml:"endpoint" default:"http" doc:"the endpoint of the target"`
	Connections int          `yaml:"connections" required:"true" min:"1" doc:"connections"`
	Path        string       `yaml:"path" required:"true" doc:"what is asked for: something large"`
	ReadRate    dsl.ByteRate `yaml:"read-rate" required:"true" min:"1B/s" doc:"how fast each connection reads"`
}

type largeTransfers struct {
	Endpoint    string   `yaml:"endpoint" default:"http" doc:"the endpoint of the target"`
	Connections int      `yaml:"connections" required:"true" min:"1" doc:"connections"`
	Bytes       dsl.Size `yaml:"bytes" required:"true" min:"1" doc:"size of each body"`
	Upload      bool     `yaml:"upload" doc:"send bodies instead of asking for them"`
}

type rapidReset struct {
	Endpoint         string `yaml:"endpoint" default:"https" doc:"the endpoint of the target"`
	Connections      int    `yaml:"connections" required:"true" min:"1" doc:"connections"`
	StreamsPerSecond int    `yaml:"streams-per-second" required:"true" min:"1" doc:"streams opened and reset a second, on each connection"`
}

// Lasting: it goes on until its phase ends.
func (a *attack) Lasting() bool { return true }

// Check finds what the types do not.
func (a *attack) Check(c *dsl.Check) {
	if !c.Has("slowloris") && !c.Has("slow-read") && !c.Has("large-transfers") && !c.Has("rapid-reset") {
		c.Errorf("", "nothing says which attack").Hint = "write one of slowloris, slow-read, large-transfers, rapid-reset"
	}
}

// Declares the metrics of an attack.
func (a *attack) Declares() task.Declaration {
	return task.Declaration{Metrics: []series.Desc{
		{Name: "attack_opened", Across: series.Sum, Class: series.Count, Doc: "hostile connections that were opened"},
		{Name: "attack_closed", Across: series.Sum, Class: series.Count, Doc: "of them, those that the target closed"},
	}}
}
