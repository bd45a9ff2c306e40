package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/record"
)

// A noRun says why a cell has no run: unsupported or failed.
type noRun struct {
	status record.Status
	text   string
}

// without says why a cell cannot run; nil if it can, as far as is known.
func (s *session) without(c *Cell, b *begun) *noRun {
	if c.Unsupported != "" {
		return &noRun{record.Unsupported, c.Unsupported}
	}
	if why, ok := b.broken[c]; ok {
		return &why
	}
	if why, ok := s.failed[c.installKey()]; ok {
		return &why
	}
	const none = "not installed on this machine: "
	if missing := notHere(c.declared.programs); len(missing) > 0 {
		why := none + strings.Join(missing, ", ")
		s.missing(c.Coord.Target, why)
		return &noRun{record.Unsupported, why}
	}
	if why := s.p.lacking(c); why != "" {
		return &noRun{record.Unsupported, "this machine does not offer " + why}
	}
	if missing := notHere(c.declared.further); len(missing) > 0 {
		return &noRun{record.Unsupported, none + strings.Join(missing, ", ") + ", which the scenario runs"}
	}
	return nil
}

// ensure gives the installation that a cell runs on: one that is there, or a new one. It is nil if the target cannot be
// installed, which `without` then knows; an error means that nothing more can be run.
func (s *session) ensure(ctx context.Context, c *Cell, b *begun) (*installation, error) {
	for _, in := range s.current {
		if in.key == c.installKey() && in.usable(c, b.record.Round) {
			err := in.restore(ctx)
			if err == nil {
				return in, nil
			}
			s.progress.Note(c.Coord.Target, "it is installed anew, because "+s.redact(err.Error()))
			s.leave(in)
			break
		}
	}
	for _, in := range slices.Clone(s.current) {
		// Without together only one is there; a target's older installation ends in any case.
		if !b.together || in.cell.Coord.Target == c.Coord.Target {
			s.leave(in)
		}
	}
	in, err := s.install(ctx, c, b)
	switch {
	case err == nil:
		s.current = append(s.current, in)
		s.version(ctx, in)
		return in, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	why := noRun{record.Failed, s.redact(err.Error())}
	if missing := (*proc.MissingProgram)(nil); errors.As(err, &missing) {
		why = noRun{record.Unsupported, missing.Error()}
		s.missing(c.Coord.Target, missing.Error())
	}
	if refusal := (*proc.Refusal)(nil); errors.As(err, &refusal) {
		why = noRun{record.Unsupported, refusal.Error()}
	}
	s.failed[c.installKey()] = why
	return nil, nil
}

// usable reports whether an installation may serve another run of a cell, in a round of its stage.
func (in *installation) usable(c *Cell, round int) bool {
	alive := in.alive()
	in.mu.Lock()
	defer in.mu.Unlock()
	for name, n := range in.living {
		if alive[name] < n && !(in.moved.is && in.p.backends.Get(name) != nil) { // an action ended it, and no restoring brings it back
			return false
		}
	}
	switch {
	case in.dead != "":
		return false
	case c.Fresh == "run":
		return in.runs == 0
	case c.Fresh == "scenario":
		return in.runs == 0 || in.round == round && in.cell.Coord.Stage == c.Coord.Stage && in.cell.Coord.Scenario == c.Coord.Scenario
	}
	return true
}

func (s *session) leave(in *installation) {
	s.current = slices.DeleteFunc(s.current, func(x *installation) bool { return x == in })
	in.end()
}

func (s *session) leaveAll() {
	for len(s.current) > 0 {
		s.leave(s.current[len(s.current)-1])
	}
}
