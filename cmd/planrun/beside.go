package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// earlier are the result sets that stand beside another one, with what heads their columns.
type earlier struct {
	sets   []*diff.Set
	labels []string
	absent []string // of those that a plan names, why they are not to be had
}

// earlierOf are those that a plan names, as far as they are there, and those of --beside.
func earlierOf(prog *engine.Program, args []string) (e earlier, err error) {
	for _, x := range prog.Earlier() {
		if err := e.add(x.Dir, x.Label); err != nil {
			e.absent = append(e.absent, err.Error())
		}
	}
	for _, arg := range args {
		dir, label := labelled(arg)
		if err := e.add(dir, label); err != nil {
			return e, fmt.Errorf("--beside: %w", err)
		}
	}
	return e, nil
}

// besideOf are those that a plan which is run names. A report is made whatever becomes of them.
func besideOf(prog *engine.Program) engine.Beside {
	return func(set *record.Set, in *report.Input) error {
		e, err := earlierOf(prog, nil)
		if err == nil {
			err = e.into(set, in)
		}
		if err != nil {
			in.Beside, in.Absent = nil, append(e.absent, err.Error())
		}
		return nil
	}
}

func (e *earlier) add(dir, label string) error {
	if label == "" {
		label = filepath.Base(filepath.Clean(dir))
	}
	if slices.Contains(e.labels, label) {
		return fmt.Errorf("two result sets are called %s; give them labels: --beside %s=LABEL, or label: LABEL in the plan", label, dir)
	}
	if _, err := oneSet([]string{dir}); err != nil {
		return err
	}
	name := relative(dir)
	set, err := diff.Open(dir, diff.Options{Name: name, Tree: dsl.Tree})
	if err != nil {
		return err
	}
	e.sets, e.labels = append(e.sets, set), append(e.labels, label)
	return nil
}

// labelled splits DIR=LABEL at the first = before which a directory stands; where none does, at the last one.
func labelled(arg string) (dir, label string) {
	there := func(path string) bool { info, err := os.Stat(path); return err == nil && info.IsDir() }
	if there(arg) {
		return arg, ""
	}
	dir = arg
	for at, r := range arg {
		if r != '=' || at == 0 {
			continue
		}
		if dir, label = arg[:at], arg[at+1:]; there(dir) {
			break
		}
	}
	return dir, label
}

// into matches them with the set that is reported.
func (e earlier) into(set *record.Set, in *report.Input) error {
	in.Absent = e.absent
	if len(e.sets) == 0 {
		return nil
	}
	now, err := diff.Open(set.Dir, diff.Options{Name: relative(set.Dir), Tree: dsl.Tree})
	if err != nil {
		return err
	}
	now.Results = in.Results
	for i, then := range e.sets {
		b, err := diff.Beside(then, now, e.labels[i])
		if err != nil {
			return err
		}
		in.Beside = append(in.Beside, b)
	}
	return nil
}
