package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/task"
)

// OnProcess says which processes an action is about.
type OnProcess struct {
	Process string `yaml:"process" hole:"no" required:"true" short:"true" doc:"the process, by the name it was started with"`
	Replica *int   `yaml:"replica" min:"0" doc:"one of its replicas, counted from 0; left out: all of them, one after another"`
}

// Declares which process it uses.
func (o *OnProcess) Declares() task.Declaration {
	return task.Declaration{Uses: []task.Use{{Kind: "process", Name: o.Process, Field: "process"}}}
}

// OnReplica says which process it is about, and if that is one replica alone, which.
func (o *OnProcess) OnReplica() (process string, replica int, one bool) {
	if o.Replica == nil {
		return o.Process, 0, false
	}
	return o.Process, *o.Replica, true
}

// find gives the live processes that are meant.
func (o *OnProcess) find(env *task.Env) ([]task.Process, error) {
	found, err := env.Processes.Find(o.Process)
	if err != nil {
		return nil, err
	}
	if o.Replica == nil {
		return found, nil
	}
	found = slices.DeleteFunc(slices.Clone(found), func(p task.Process) bool { return p.Replica() != *o.Replica })
	if len(found) == 0 {
		return nil, fmt.Errorf("no replica %d of process %s runs", *o.Replica, o.Process)
	}
	return found, nil
}

// each does something to all that are meant, also after it did not succeed for one.
func (o *OnProcess) each(ctx context.Context, env *task.Env, event, done string, f func(task.Process) error) error {
	procs, err := o.find(env)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range procs {
		if ctx.Err() != nil {
			errs = append(errs, ended(ctx))
			break
		}
		if err := f(p); err != nil {
			errs = append(errs, err)
			continue
		}
		env.Event(event, fmt.Sprintf("%s/%d %s", p.Name(), p.Replica(), done), map[string]any{"process": p.Name(), "replica": p.Replica(), "pid": p.PID()})
	}
	return errors.Join(errs...)
}

// named says which processes these are: web/0, or web (3 replicas).
func named(procs []task.Process) string {
	if len(procs) == 1 {
		return fmt.Sprintf("%s/%d", procs[0].Name(), procs[0].Replica())
	}
	return fmt.Sprintf("%s (%d replicas)", procs[0].Name(), len(procs))
}
