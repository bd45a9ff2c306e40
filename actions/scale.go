package actions

import (
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var scaleKind = later("scale", "it comes with backend and route churn", "Change how many replicas a backend has, then do the target's routes-changed. In a cluster it is also a Deployment or another object that can be scaled. The end of the run undoes it.", func() any { return &scale{} })

type scale struct {
	Backends string       `yaml:"backends" kind:"true" ref:"backends" doc:"the backend"`
	Object   string       `yaml:"object" kind:"true" doc:"a Kubernetes object instead: KIND/NAME or NAMESPACE/KIND/NAME"`
	To       int          `yaml:"to" required:"true" min:"0" max:"100000" doc:"how many replicas"`
	Over     dsl.Duration `yaml:"over" min:"1ms" doc:"change it one by one over this time; left out: at once"`
}

// Check finds what the types do not.
func (s *scale) Check(c *dsl.Check) {
	if !c.Has("backends") && !c.Has("object") {
		c.Errorf("", "nothing says what is scaled").Hint = "write backends: NAME"
	}
}

// Declares which backend it uses.
func (s *scale) Declares() task.Declaration {
	return task.Declaration{Uses: []task.Use{{Kind: "backend", Name: s.Backends, Field: "backends"}}}
}
