package actions

import (
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var sweepKind = later("sweep", "it comes with proxy capacity", "Find the highest rate for which a condition holds: steps of rising rate, confirmation of the knee, then bisection. The headline is the highest sustained step.", func() any { return &sweep{} })

type sweep struct {
	Load       string       `yaml:"load" required:"true" ref:"loads" doc:"the load that is sent; its rate is the sweep's"`
	Rate       sweepRate    `yaml:"rate" required:"true" doc:"the rates of the steps"`
	Step       dsl.Duration `yaml:"step" default:"10s" min:"100ms" doc:"length of a step"`
	Settle     dsl.Duration `yaml:"settle" default:"1s" min:"0s" doc:"how much of a step's beginning is left out"`
	Sustained  dsl.Expr     `yaml:"sustained" required:"true" eval:"live" doc:"what must hold for a step to be sustained; reads the step without what is left out"`
	Confirm    int          `yaml:"confirm" default:"1" min:"1" max:"100" doc:"how many unsustained steps in a row are a knee"`
	Refine     sweepRefine  `yaml:"refine" doc:"bisection between the last sustained and the first unsustained rate; left out: none"`
	CrossCheck dsl.Strings  `yaml:"cross-check" doc:"other generators that are run at the rate that was found: wrk, h2load, fortio, vegeta"`
}

type sweepRate struct {
	From  dsl.Rate `yaml:"from" required:"true" min:"0.001" doc:"requests a second of the first step"`
	Times float64  `yaml:"times" kind:"true" min:"1.001" doc:"factor from one step to the next"`
	Plus  dsl.Rate `yaml:"plus" kind:"true" min:"0.001" doc:"requests a second added from one step to the next"`
	Max   dsl.Rate `yaml:"max" min:"0.001" doc:"the highest rate that is tried; left out: no limit"`
}

type sweepRefine struct {
	Steps  int         `yaml:"steps" min:"0" max:"100" doc:"steps of bisection, at most"`
	Within dsl.Percent `yaml:"within" default:"5%" min:"0.01%" max:"100%" doc:"it ends once the two rates are this near"`
}

// Check finds what the types do not.
func (s *sweep) Check(c *dsl.Check) {
	if s.Settle >= s.Step && c.Known("step") && c.Known("settle") {
		c.Errorf("settle", "nothing is left of a step of %v", s.Step).Hint = "write a shorter settle or a longer step"
	}
}

// Check finds what the types do not.
func (r *sweepRate) Check(c *dsl.Check) {
	if !c.Has("times") && !c.Has("plus") {
		c.Errorf("", "nothing says how the rate rises").Hint = "add times: 1.5 or plus: 100/s"
	}
	if r.Max != 0 && r.Max < r.From && c.Known("max") && c.Known("from") {
		c.Errorf("max", "it is below the first rate")
	}
}

// Declares the metrics of a sweep.
func (s *sweep) Declares() task.Declaration {
	return task.Declaration{
		Metrics: []series.Desc{
			{Name: "max_sustainable_rate", Unit: "req/s", Better: series.Higher, Across: series.Median, Class: series.Timing, Doc: "the highest rate for which the condition held"},
			{Name: "knee_rate", Unit: "req/s", Better: series.Higher, Across: series.Median, Class: series.Timing, Doc: "the lowest rate for which it did not"},
		},
		Uses: []task.Use{{Kind: "load", Name: s.Load, Field: "load"}},
	}
}
