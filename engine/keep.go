package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
)

// writePlan keeps the plan as it is resolved, and what it was made of.
func (s *session) writePlan() error {
	names := sourceNames(s.p.Plan.Files)
	for file, b := range s.p.Plan.Sources {
		if n, ok := names[file]; ok {
			if err := s.set.WriteFile(filepath.Join("sources", n), []byte(s.redact(string(b)))); err != nil {
				return err
			}
		}
	}
	var errs []error
	resolved := dsl.Resolved(s.p.Plan, dsl.ResolvedOptions{Environment: s.p.fromEnvironment(), Path: func(path string) string {
		kept, err := s.keepFile(path)
		errs = append(errs, err)
		return kept
	}})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("keeping a file of the plan: %w", err)
	}
	return s.set.WriteFile("plan.yaml", []byte(s.redact(string(resolved))))
}

// keepFile copies a file that the plan refers to (a template), and gives its path in the result set. An earlier result set stays
// where it is.
func (s *session) keepFile(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Abs(path)
	}
	b, err := s.p.readFile(path)
	if err != nil {
		return "", err
	}
	name := filepath.Join("sources", strings.ReplaceAll(strings.Trim(filepath.ToSlash(path), "/"), "/", "_"))
	return name, s.set.WriteFile(name, b)
}

func (s *session) writeEnvironment() error {
	e := machine.Environment()
	e.Token, e.Plan, e.Start, e.Command, e.Layout, e.Programs = s.env.Token, s.p.Plan.File, time.Now().UTC(), s.opt.Command, map[string][]int{}, s.programs
	for _, c := range s.p.Host.CPUs {
		e.Layout[c.Name] = c.Val
	}
	e.LeftOut = map[string]string{}
	for _, c := range s.p.Cells {
		if c.LeftOut != "" {
			e.LeftOut[c.Coord.CellName()] = c.LeftOut
		}
	}
	return s.set.WriteEnvironment(e)
}

func (s *session) missing(target, why string) { s.programs[target] = record.Program{Missing: why} }

// version records what a target runs, once.
func (s *session) version(ctx context.Context, in *installation) {
	name := in.cell.Coord.Target
	if _, ok := s.programs[name]; ok {
		return
	}
	target, _ := in.cell.Target.Bind(in.eval.fill(ctx, in.knownNow(), in.values()))
	program := ""
	for _, p := range in.order {
		if len(p.Programs) > 0 {
			program = p.Programs[0]
			break
		}
	}
	s.programs[name] = machine.Program(ctx, program, target.Val.Version)
	if err := s.writeEnvironmentPrograms(); err != nil {
		slog.Error(err.Error())
	}
}

func (s *session) writeEnvironmentPrograms() error {
	e, err := s.set.Environment()
	if err != nil {
		return err
	}
	e.Programs = maps.Clone(s.programs)
	return s.set.WriteEnvironment(e)
}

// redact takes secrets out of what is kept.
func (s *session) redact(text string) string { return s.p.redact(text) }
