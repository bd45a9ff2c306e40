package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/verdict"
)

// An Outcome is what a plan run, or judging a result set again, came to.
type Outcome struct {
	Set     *record.Set
	Results *record.Results
	Input   report.Input
	Exit    int    // as DESIGN 6 says: 0, 1, 3, 4, 5, 130
	Why     string // in words
}

// ConcludeOptions say how a result set is judged. The zero value judges what is there.
type ConcludeOptions struct {
	Gate        string
	NotUndone   []string
	Interrupted bool
	Failure     error // the harness failed outside of a run
	Command     []string
}

// Conclude judges what a result set holds by a program's verdicts, and writes results.json and report.md. It needs nothing
// but the set and the program, so it serves a run that just ended as well as one whose engine died.
func Conclude(set *record.Set, p *Program, opt ConcludeOptions) (*Outcome, error) {
	env, err := set.Environment()
	if err != nil {
		return nil, err
	}
	data := &verdict.Data{Cells: map[verdict.Coord]*verdict.Cell{}}
	for _, c := range p.Cells {
		cell := &verdict.Cell{Planned: c.Repeats * max(1, p.stage(c.Coord.Stage).Rounds)}
		if why, ok := env.LeftOut[coordText(c.Coord)]; ok {
			cell.State, cell.Reason = verdict.LeftOut, why
		}
		data.Cells[verdictCoord(c.Coord)] = cell
	}
	res := &record.Results{Version: record.Version, Plan: p.Plan.Name, About: p.Plan.About, Complete: true, Undone: opt.NotUndone}
	var runs []*record.Run
	var failed []string
	for d, err := range set.All() {
		if err != nil {
			return nil, err
		}
		r := d.Run
		cell := data.Cells[verdictCoord(r.Coord)]
		if cell == nil {
			cell = &verdict.Cell{} // of a plan that was edited since
		}
		switch r.Status {
		case record.Unsupported, record.Skipped:
			cell.State, cell.Reason = verdict.Skipped, r.Reason
		case record.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s", coordText(r.Coord), r.Reason))
			if r.Install == "" {
				cell.State, cell.Reason = verdict.Failed, r.Reason
			} else {
				cell.Runs = append(cell.Runs, verdictRun(d, true))
			}
		default:
			if r.Status == record.Unfinished || len(r.Metrics) == 0 || p.needsMetrics(r) {
				p.derive(context.Background(), d)
				if err := set.Rederived(r); err != nil {
					return nil, err
				}
			}
			if r.Status == record.Unfinished || r.Status == record.Interrupted {
				res.Complete = false
			}
			run := verdictRun(d, true)
			if r.Status == record.Unfinished {
				run.Outcome, run.Reason = verdict.Inconclusive, "it was not finished: planrun was killed"
			}
			cell.Runs = append(cell.Runs, run)
			for _, g := range r.Checks {
				if !g.OK {
					failed = append(failed, fmt.Sprintf("%s: %s: %s", coordText(r.Coord), g.Name, g.Message))
				}
			}
		}
		runs = append(runs, r)
	}
	for _, cell := range data.Cells {
		if cell.State == verdict.Ran && len(cell.Runs) < cell.Planned {
			res.Complete = false
		}
	}
	rules, problems := verdict.NewRules(p.compiler, definitions(p.Plan))
	if len(problems) > 0 {
		return nil, p.verdictProblems(problems)
	}
	js := rules.Judge(context.Background(), data, verdict.Options{Gate: gateOption(opt.Gate)})
	res.Verdicts = judgements(p, js)
	res.Cells, res.Descs = measure.CellsOf(runs)
	if res.Stages, err = set.Stages(); err != nil {
		return nil, err
	}
	res.Targets, res.Scenarios = p.shownTargets(env), p.shownScenarios(runs)
	res.Sections = p.sections(res)
	out := &Outcome{Set: set, Results: res}
	out.Exit, out.Why = exit(opt, failed, rules.Summarize(js))
	res.Exit, res.ExitWhy = out.Exit, out.Why
	if err := set.WriteResults(res); err != nil {
		return nil, err
	}
	out.Input = input(set, res, env, runs)
	return out, out.writeReport()
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
		if _, ok := r.Metrics[""][d.Name]; !ok && r.Missing[d.Name] == "" {
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

// exit gives the code by the order of DESIGN 6: 5, 130, 4, 1, 3, 0.
func exit(opt ConcludeOptions, failed []string, gates verdict.Summary) (int, string) {
	switch {
	case len(opt.NotUndone) > 0:
		return 5, fmt.Sprintf("%d changes could not be undone; `planrun clean` tries again", len(opt.NotUndone))
	case opt.Interrupted:
		return 130, "interrupted; undone, and what there was is reported"
	case opt.Failure != nil:
		return 4, "the harness failed: " + opt.Failure.Error()
	case len(failed) > 0:
		first, _, _ := strings.Cut(failed[0], "\n")
		if more := len(failed) - 1; more > 0 {
			first = fmt.Sprintf("%s (and %d more)", strings.TrimSuffix(first, ":"), more)
		}
		return 4, "the harness failed: " + first
	case gates.Exit() == 4:
		return 4, fmt.Sprintf("%d gating verdicts could not be judged because the harness failed", gates.Errored)
	case gates.Exit() == 1:
		return 1, fmt.Sprintf("%d of the gating verdicts failed", gates.Failed)
	case len(gates.Nothing) > 0:
		return 3, fmt.Sprintf("a gate judged nothing: %q", gates.Nothing[0])
	case gates.Exit() == 3:
		return 3, fmt.Sprintf("%d gating verdicts are inconclusive", gates.Inconclusive)
	case gates.Passed == 0:
		return 0, "the plan has no gates"
	}
	return 0, fmt.Sprintf("all %d gates passed", gates.Passed)
}

// judgements are the outcomes as they are stored.
func judgements(p *Program, js []verdict.Judgement) (out []record.Judgement) {
	for _, j := range js {
		r := record.Judgement{Verdict: j.Verdict, Coord: recordCoord(j.At), Outcome: string(j.Outcome), Label: j.Label, Reason: j.Reason, Expression: j.Text, Operands: operands(j.Operands), N: j.N, Gate: j.Gate, Broke: j.Broke}
		for _, q := range j.Parts {
			r.Runs = append(r.Runs, record.RunJudgement{Round: q.Round, Repeat: q.Repeat, Outcome: string(q.Outcome), Label: q.Label, Reason: q.Reason, Operands: operands(q.Operands)})
		}
		out = append(out, r)
	}
	return out
}

func operands(in []verdict.Operand) (out []record.Operand) {
	for _, o := range in {
		out = append(out, record.Operand{Text: o.Text, Value: o.Value})
	}
	return out
}

func recordCoord(c verdict.Coord) record.Coord {
	out := record.Coord{Stage: c.Stage, Scenario: c.Scenario, Target: c.Target}
	axes := c.Axes()
	for _, n := range slices.Sorted(maps.Keys(axes)) {
		out.Matrix = append(out.Matrix, record.Axis{Name: n, Value: axes[n]})
	}
	return out
}

func (p *Program) shownTargets(env *record.Environment) (out []record.Target) {
	seen := map[string]bool{}
	for _, c := range p.Cells {
		if seen[c.Coord.Target] {
			continue
		}
		seen[c.Coord.Target] = true
		t := c.Target.Val
		x := record.Target{Name: c.Coord.Target, About: t.About, CannotEqual: t.CannotEqual, Unsupported: map[string]string{}, Program: env.Programs[c.Coord.Target]}
		for _, k := range t.With {
			x.Knobs = append(x.Knobs, record.Knob{Name: k.Name, Value: cmp.Or(k.Val.Value.Written, fmt.Sprint(k.Val.Value.V)), Why: k.Val.Why})
		}
		for _, u := range t.Unsupported {
			x.Unsupported[u.Name] = u.Val
		}
		out = append(out, x)
	}
	return out
}

func (p *Program) shownScenarios(runs []*record.Run) (out []record.Scenario) {
	for _, s := range p.Plan.Scenarios {
		x := record.Scenario{Name: s.Name, About: s.Val.About}
		for _, r := range runs {
			if r.Coord.Scenario != s.Name {
				continue
			}
			for _, l := range r.Loads {
				if w := report.LoadWords(l); !slices.Contains(x.Loads, w) {
					x.Loads = append(x.Loads, w)
				}
			}
		}
		out = append(out, x)
	}
	return out
}

// sections are those of the plan's report, with the cells that they select.
func (p *Program) sections(res *record.Results) (out []record.Section) {
	for i := range p.Plan.Report {
		v := p.Plan.Report[i].Val
		s := record.Section{Kind: v.Section, Rows: v.Rows, Columns: v.Columns, Metrics: v.Metrics, As: v.As, Cells: []int{}}
		switch {
		case v.Table != "":
			s.Kind, s.Title = "table", v.Table
		case v.Chart != "":
			s.Kind, s.Title = "chart", v.Chart
		}
		selected, _ := p.compiler.Select(v.Where.Text)
		for n, c := range res.Cells {
			if slices.Contains(selected, verdictCoord(c.Coord)) {
				s.Cells = append(s.Cells, n)
			}
		}
		for _, r := range v.Ratios {
			s.Ratios = append(s.Ratios, record.Ratio{Of: r.Of, To: against(r.To), Metrics: r.Metrics, DistortedAbove: float64(r.DistortedAbove)})
		}
		if v.Losses.Against.Target != "" || v.Losses.Against.Best != nil {
			a := against(v.Losses.Against)
			s.Losses = &a
		}
		out = append(out, s)
	}
	return out
}

func against(r dsl.RatioTo) record.Against { return record.Against{Target: r.Target, Best: r.Best} }

// input is what the report is made of.
func input(set *record.Set, res *record.Results, env *record.Environment, runs []*record.Run) report.Input {
	return report.Input{Results: res, Environment: env, Runs: runs,
		Series: func(id, name string) ([]float64, []float64, error) {
			d, err := set.Data(id)
			if err != nil {
				return nil, nil, err
			}
			s := measure.All(d)[name]
			return s.T, s.V, nil
		},
		Events: func(id string) ([]record.Event, []string, error) {
			d, err := set.Data(id)
			if err != nil {
				return nil, nil, err
			}
			return d.Events, d.Notes, nil
		}}
}

// writeReport writes report.md into the result set.
func (o *Outcome) writeReport() (err error) {
	path := o.Set.Path("report.md")
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := report.Write(f, o.Input, report.Options{Dir: o.Set.Dir}); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
