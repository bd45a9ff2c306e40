package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/report/html"
	"github.com/planrun/planrun/engine/verdict"
)

// An Outcome is what a plan run, or judging a result set again, came to.
type Outcome struct {
	Set     *record.Set
	Results *record.Results
	Input   report.Input
	Exit    int    // 0, 1, 3, 4, 5 or 130: see exit
	Why     string // in words

	unread *unread
	exit   func() (int, string) // by what is known of unread
}

// end tells results and report how it ended, and what could not be read so far.
func (o *Outcome) end() {
	o.Input.Unread = o.unread.known()
	o.Exit, o.Why = o.exit()
	o.Results.Exit, o.Results.ExitWhy = o.Exit, o.Why
}

// ConcludeOptions say how a result set is judged. The zero value judges what is there as the plan says.
type ConcludeOptions struct {
	Gate   string // as in verdict.Options; "plan" is as the plan says
	Beside Beside
}

// Beside finds the earlier result sets whose figures stand beside those of a set in its report (report.Input.Beside and Absent);
// nil is none.
type Beside func(*record.Set, *report.Input) error

// Conclude judges what a result set holds by a program's verdicts, and writes results.json, report.md and report.html. It needs nothing
// but the set and the program, so it serves a run that just ended as well as one whose engine died.
func Conclude(set *record.Set, p *Program, opt ConcludeOptions) (*Outcome, error) {
	out, err := judge(set, p, opt)
	if err != nil {
		return nil, err
	}
	dir := p.redact(out.named())
	d, err := out.report(dir)
	if err == nil && !maps.Equal(out.unread.known(), out.Input.Unread) { // it showed only when the report asked for it
		out.end()
		if err = set.WriteResults(out.Results); err == nil {
			d, err = out.report(dir)
		}
	}
	if err == nil {
		err = out.writeReport(d)
	}
	if err != nil {
		return out, again(set, err)
	}
	return out, nil
}

// again is an error of writing what is made of a set, with what to do once its cause is gone.
func again(set *record.Set, err error) error {
	return fmt.Errorf("%w; what was recorded is all there: planrun report %s judges it and writes the report", err, set.Dir)
}

// judge is Conclude without the report.
func judge(set *record.Set, p *Program, opt ConcludeOptions) (*Outcome, error) {
	env, err := set.Environment()
	if err != nil {
		return nil, err
	}
	end, err := ending(set)
	if err != nil {
		return nil, err
	}
	stages, err := set.Stages()
	if err != nil {
		return nil, err
	}
	rules, problems := verdict.NewRules(p.compiler, definitions(p.Plan))
	if len(problems) > 0 {
		return nil, p.verdictProblems(problems)
	}
	unread := &unread{}
	g, err := p.gather(set, env.LeftOut, stages, &shelf{set: set, unread: unread, series: rules.Series()})
	if err != nil {
		return nil, err
	}
	p.paramsOf(g.data, stages)
	js := rules.Judge(context.Background(), g.data, verdict.Options{Gate: gateOption(opt.Gate)})

	res := &record.Results{Version: record.Version, Plan: p.Plan.Name, About: p.Plan.About, Complete: g.complete, RunsSHA256: record.Digest(g.runs), Undone: end.NotUndone, Stages: stages}
	res.Verdicts = judgements(p, js)
	res.Cells, res.Descs = measure.CellsOf(g.runs)
	res.Targets, res.Scenarios = p.shownTargets(env), p.shownScenarios(g.runs)
	res.Sections = p.sections(res)
	out := &Outcome{Set: set, Results: res, Input: input(set, res, env, g, unread), unread: unread}
	out.exit = func() (int, string) {
		return exit(end, slices.Concat(g.failed, unread.failures(g.runs)), rules.Summarize(js), js)
	}
	out.end()
	if err := set.WriteResults(res); err != nil {
		return nil, again(set, err)
	}
	if opt.Beside != nil {
		if err := opt.Beside(set, &out.Input); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ending says how the plan run ended. What could not be undone then may be undone by now.
func ending(set *record.Set) (*record.End, error) {
	end, err := set.End()
	if err != nil {
		return nil, err
	}
	if end == nil {
		return &record.End{Failure: "planrun was killed"}, nil
	}
	if log, err := journal.Read(set.Dir); err == nil && len(log.Pending())+len(log.Damaged) == 0 {
		end.NotUndone = slices.DeleteFunc(end.NotUndone, func(s string) bool { return strings.HasPrefix(s, "undoing entry ") })
	}
	return end, nil
}

// paramsOf gives verdicts the params that only running made known: those of a cell as its stage had them last, and those that
// no stage needed as they are now.
func (p *Program) paramsOf(data *verdict.Data, stages []record.Stage) {
	byStage, k := map[string]map[string]any{}, p.planned.with(nil)
	for _, s := range stages {
		byStage[s.Name] = map[string]any{}
		for n, v := range s.Params {
			byStage[s.Name]["params."+n] = v
			k["params."+n] = v
		}
	}
	needed := map[string]bool{}
	for _, q := range p.order {
		_, known := k.value("params." + q.name)
		needed[q.name] = !known
	}
	// What cannot be known is no problem of the plan: the verdict that reads it says so.
	p.bindParams(context.Background(), verdict.AtStage, p.eval, k, verdict.Values{Data: data}, needed, map[string]string{})
	data.Names = k.plain()
	for at, cell := range data.Cells {
		cell.Names = byStage[at.Stage]
	}
}

func gateOption(g string) string {
	if g == "plan" {
		return ""
	}
	return g
}

// needsMetrics reports whether the plan has metrics that the run was not asked for: the plan was edited since.
func (p *Program) needsMetrics(r *record.Run) bool {
	for _, d := range p.customDescs {
		if _, ok := r.Metrics[""].Get(d.Name); !ok && r.Missing[d.Name] == "" {
			return true
		}
	}
	return false
}

func (p *Program) verdictProblems(problems []verdict.DefProblem) error {
	var l diag.List
	for _, x := range problems {
		v := p.Plan.Verdicts[x.Definition]
		l.Addf(fieldPos(&v, x), "%s", x.Msg).Hint = x.Hint
	}
	return l
}

// named is the result set as whoever ran the plan would name it, by the directories of the command line; where that is
// another place from here, or the set was moved, its path.
func (o *Outcome) named() string {
	real := o.Set.Dir
	if to, err := filepath.EvalSymlinks(real); err == nil { // of results/latest, which leads to another one soon
		real = to
	}
	e := o.Input.Environment
	if e == nil {
		return real
	}
	dir := e.Option("out")
	if dir == "" {
		dir = filepath.Join(cmp.Or(e.Option("results"), record.Root), filepath.Base(real))
	}
	there, err := os.Stat(dir)
	if here, e := os.Stat(real); err != nil || e != nil || !os.SameFile(here, there) {
		return real
	}
	return dir
}

// report makes the report, whose command lines call the result set dir.
func (o *Outcome) report(dir string) (*report.Document, error) {
	d, err := report.Build(o.Input, report.Options{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return d, nil
}

// writeReport writes report.md and report.html into the result set.
func (o *Outcome) writeReport(d *report.Document) error {
	for _, form := range []struct {
		name  string
		write func(io.Writer, *report.Document) error
	}{{"report.md", report.WriteMarkdown}, {"report.html", html.Write}} {
		var b bytes.Buffer
		if err := form.write(&b, d); err != nil {
			return fmt.Errorf("writing %s: %w", form.name, err)
		}
		if err := o.Set.WriteFile(form.name, b.Bytes()); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}
