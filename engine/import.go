package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/published"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// ImportOptions say what is imported, and where to.
type ImportOptions struct {
	Out     string // the directory of the result set; it must not exist, or be empty
	File    string // the file of figures, as it is named
	Content []byte // of the file
	Command []string
	Gate    string // as in verdict.Options
	Beside  Beside
}

// Import makes a result set of published figures, judges it and writes the report. Nothing is written if the file has a
// problem: the error is then a diag.List of all of them. Nor is anything left of a set that cannot be written.
func (p *Program) Import(opt ImportOptions) (_ *Outcome, err error) {
	if !p.Plan.IsPublished() {
		return nil, fmt.Errorf("importing %s: %s is a plan that is run: only a plan with `published`, whose scenarios have figures instead of phases, takes them", opt.File, p.Plan.File)
	}
	figures, list := published.Read(opt.File, opt.Content)
	cells := p.publishedCells()
	list = append(list, published.Runs(figures, cells)...)
	if list.HasErrors() {
		list.Sort(nil)
		return nil, list
	}
	_, missing := os.Stat(opt.Out)
	set, err := record.Create(record.CreateOptions{Plan: p.Plan.Name, Out: opt.Out})
	if err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended {
			err = errors.Join(err, takeAway(set.Dir, missing != nil))
		}
	}()
	if set.Dir, err = filepath.Abs(set.Dir); err != nil {
		return nil, fmt.Errorf("finding the result set: %w", err)
	}
	token, now := make([]byte, 16), time.Now().UTC()
	rand.Read(token)
	j, err := journal.Open(set.Dir, journal.Options{Token: hex.EncodeToString(token)}) // which other commands know a result set by
	if err != nil {
		return nil, err
	}
	defer j.Close()
	sum := sha256.Sum256(opt.Content)
	env := &record.Environment{Version: record.Version, Token: hex.EncodeToString(token), Plan: p.Plan.File, Start: now, Command: opt.Command, Planrun: machine.Version(), Go: runtime.Version(), LeftOut: map[string]string{},
		Imported: &record.Imported{By: p.Plan.Published, File: opt.File, SHA256: hex.EncodeToString(sum[:]), Rows: len(figures)}}
	for _, c := range p.Cells {
		if c.LeftOut != "" {
			env.LeftOut[c.Coord.CellName()] = c.LeftOut
		}
	}
	err = errors.Join((&session{p: p, set: set, env: &task.UndoEnv{}}).writePlan(), set.WriteEnvironment(env),
		set.WriteFile(filepath.Join("sources", fmt.Sprintf("%02d-%s", len(p.Plan.Files), filepath.Base(opt.File))), opt.Content))
	for i, c := range p.Cells {
		if err == nil && c.LeftOut == "" {
			err = p.importCell(set, c, cells[i], opt.File, now)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("importing %s: %w", opt.File, err)
	}
	if err := set.WriteEnd(&record.End{}); err != nil {
		return nil, err
	}
	ended = true
	return Conclude(set, p, ConcludeOptions{Gate: opt.Gate, Beside: opt.Beside})
}

// takeAway removes what an import wrote, and the directory too if it was made for it.
func takeAway(dir string, made bool) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if made {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// publishedCells are the plan's cells as figures are held against them.
func (p *Program) publishedCells() (out []*published.Cell) {
	for _, c := range p.Cells {
		out = append(out, &published.Cell{Scenario: c.Coord.Scenario, Target: c.Coord.Target, Repeats: max(1, c.Repeats), Figures: p.published(c.Scenario), None: c.Unsupported})
	}
	return out
}

// importCell writes the runs of a cell, or why it has none.
func (p *Program) importCell(set *record.Set, c *Cell, figures *published.Cell, file string, now time.Time) error {
	run := record.Run{Coord: c.Coord, Start: now, Phases: []record.Phase{}, Actions: []record.Action{}}
	run.Coord.Round, run.Coord.Repeat = 1, 1
	switch {
	case c.Unsupported != "":
		run.Status, run.Reason = record.Unsupported, c.Unsupported
		return set.WriteRun(&run)
	case figures.Lines == 0:
		run.Status, run.Reason = record.Skipped, fmt.Sprintf("%s has no figures of it", filepath.Base(file))
		return set.WriteRun(&run)
	}
	run.Status, run.ValueDescs = record.Done, slices.Concat(figures.Figures, p.customDescs)
	for i, values := range figures.Runs {
		r := run
		r.Coord.Repeat = i + 1
		r.Values, r.Published = map[string]any{}, &record.Published{Whole: figures.Whole, Ranked: figures.Ranked}
		for name, v := range values {
			r.Values[name] = v
		}
		p.derive(context.Background(), &record.Data{Run: &r})
		if err := set.WriteRun(&r); err != nil {
			return err
		}
	}
	return nil
}

// refusePublished is why a plan of published figures does not run.
func (p *Program) refusePublished() (list diag.List) {
	if p.Plan.IsPublished() {
		list.Addf(p.Plan.PosOf("published"), "the plan holds published figures only: there is nothing to run").Hint = fmt.Sprintf("planrun import FILE.csv --plan %s --out DIR makes a result set of the figures in a file", p.Plan.File)
	}
	return list
}
