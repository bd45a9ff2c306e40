package actions

import (
	"context"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var repeatKind = kind("repeat", "Do actions one after another, again and again: so many times, or for a while, beside what else the phase does.", func() *repeat { return &repeat{} })

type repeat struct {
	Times int                    `yaml:"times" kind:"true" min:"1" doc:"how many times"`
	For   dsl.Duration           `yaml:"for" kind:"true" min:"1ms" doc:"for how long; what has begun by then is done to its end. Neither: until the phase ends"`
	Pause dsl.Duration           `yaml:"pause" min:"0s" doc:"how long to wait between two times; left out: not at all"`
	Do    []dsl.Part[dsl.Action] `yaml:"do" required:"true" min:"1" doc:"the actions"`
}

// Lasting: without times or a length it goes on until its phase ends.
func (r *repeat) Lasting() bool { return r.Times == 0 && r.For == 0 }

// Actions are those that it holds.
func (r *repeat) Actions() []dsl.Part[dsl.Action] { return r.Do }

// Check finds what the types do not.
func (r *repeat) Check(c *dsl.Check) {
	for i := range r.Do {
		for _, key := range []string{"at", "every", "through"} {
			if r.Do[i].Has(key) {
				c.Errorf("do", "%s has no meaning in a repeat, whose actions go one after another", key).Hint = "leave it out, or use pause"
			}
		}
		if l, ok := r.Do[i].Val.Spec.(task.Lasting); ok && l.Lasting() && !r.Do[i].Has("for") {
			c.Errorf("do", "%s goes on until the phase ends, so nothing would come after it", r.Do[i].Val.Kind).Hint = "give it a for"
		}
	}
}

func (r *repeat) Run(ctx context.Context, env *task.Env) error {
	begun := time.Now()
	for i := 0; r.Times == 0 || i < r.Times; i++ {
		if i > 0 && r.Pause > 0 {
			select {
			case <-time.After(r.Pause):
			case <-ctx.Done():
			}
		}
		if r.For > 0 && time.Since(begun) >= r.For {
			return nil
		}
		if ctx.Err() != nil {
			return ended(ctx)
		}
		if err := env.Do(ctx, r.Do); err != nil {
			if ctx.Err() != nil && ended(ctx) == nil {
				return nil // the phase was over in the middle
			}
			return err
		}
	}
	return nil
}
