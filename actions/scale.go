package actions

import (
	"context"
	"fmt"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var scaleKind = kind("scale", `Change how many replicas a backend has, as a cluster does: one that comes is announced when it is ready, one that leaves is told to end (SIGTERM) and has its grace for that; those with the highest numbers leave. The target is told by its routes-changed, and asked until it serves the change, which is the metric route_propagation_ms.
In a cluster it is also a Deployment or another object that can be scaled. The end of the run undoes it.`, func() *scale { return &scale{} })

type scale struct {
	Backends string       `yaml:"backends" kind:"true" ref:"backends" doc:"the backend"`
	Object   string       `yaml:"object" kind:"true" later:"there is no cluster driver yet" doc:"a Kubernetes object instead: KIND/NAME or NAMESPACE/KIND/NAME"`
	To       int          `yaml:"to" required:"true" min:"0" max:"10000" doc:"how many replicas; 0 is an outage"`
	Over     dsl.Duration `yaml:"over" min:"1ms" doc:"change it one by one over this time; left out: at once"`
	Drain    string       `yaml:"drain" enum:"none|announce-first" default:"none" doc:"of replicas that leave: none tells them to end and then the target that they are gone; announce-first tells the target first, and them when it serves without them and they get no more requests"`
	Grace    dsl.Duration `yaml:"grace" default:"10s" min:"0s" doc:"how long a replica that leaves has between SIGTERM and SIGKILL"`
	Within   dsl.Duration `yaml:"within" default:"10s" min:"10ms" doc:"how long the target has to serve the change; after that the run goes on, and is inconclusive"`
}

// Check finds what the types do not.
func (s *scale) Check(c *dsl.Check) {
	if !c.Has("backends") && !c.Has("object") {
		c.Errorf("", "nothing says what is scaled").Hint = "write backends: NAME"
	}
}

// Declares which backend it uses, and the metric.
func (s *scale) Declares() task.Declaration { return churns(s.Backends) }

// Scales is the backend whose replicas it changes.
func (s *scale) Scales() string { return s.Backends }

// Size is how many replicas there are to be, and over which time; 0 is at once, or an expression that is not known yet.
func (s *scale) Size() (to int, over time.Duration) { return s.To, s.Over }

// DefaultName is its name in the timeline.
func (s *scale) DefaultName() string {
	switch {
	case s.Backends == "":
		return ""
	case s.To == 0: // none, or an expression that is not known yet
		return "scale " + s.Backends
	}
	return fmt.Sprintf("scale %s to %d", s.Backends, s.To)
}

func (s *scale) Run(ctx context.Context, env *task.Env) error {
	return env.Backends.Scale(ctx, task.Scale{Backend: s.Backends, To: s.To, Over: s.Over, Drain: s.Drain, Grace: s.Grace, Within: s.Within})
}
