package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/planrun/planrun/engine/proc"
)

const missingProgram = "\x00missing: "

// ensure gives the installation that a cell runs on: one that is there, or a new one. It is nil if the target cannot be
// installed; an error means that nothing more can be run.
func (s *session) ensure(ctx context.Context, c *Cell, b *begun, leave bool) (*installation, error) {
	for _, in := range s.current {
		if in.key == c.installKey() && in.usable(c) {
			return in, nil
		}
	}
	for _, in := range slices.Clone(s.current) {
		// Without together only one is there; a target's older installation ends in any case.
		if !b.together || in.cell.Coord.Target == c.Coord.Target {
			s.leave(in)
		}
	}
	in, err := s.install(ctx, c, b.known)
	switch {
	case err == nil:
		s.current = append(s.current, in)
		s.version(ctx, in)
		return in, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	why := s.redact(err.Error())
	var missing *proc.MissingProgram
	if errors.As(err, &missing) {
		why = missingProgram + missing.Error()
		s.missing(c.Coord.Target, missing.Error())
	}
	s.failed[c.installKey()] = why
	return nil, nil
}

// usable reports whether an installation may serve another run of a cell.
func (in *installation) usable(c *Cell) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.dead != "":
		return false
	case c.Fresh == "run":
		return in.runs == 0
	case c.Fresh == "scenario":
		return in.cell.Coord.Stage == c.Coord.Stage && in.cell.Coord.Scenario == c.Coord.Scenario
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
