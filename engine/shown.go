package engine

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
	"github.com/planrun/planrun/engine/verdict"
)

// judgements are the outcomes as they are stored.
func judgements(p *Program, js []verdict.Judgement) (out []record.Judgement) {
	about, let := map[string]string{}, map[string][]record.Operand{}
	for _, v := range p.Plan.Verdicts {
		about[v.Val.Verdict] = v.Val.About
		for _, l := range v.Val.Let {
			let[v.Val.Verdict] = append(let[v.Val.Verdict], record.Operand{Text: l.Name, Value: l.Val.Text})
		}
	}
	for _, j := range js {
		r := record.Judgement{Verdict: j.Verdict, About: about[j.Verdict], Let: let[j.Verdict], Coord: recordCoord(j.At), Outcome: string(j.Outcome), Label: j.Label, Reason: j.Reason, Expression: j.Text, Operands: operands(j.Operands), N: j.N, Gate: j.Gate, Broke: j.Broke, Distance: j.Distance}
		for _, q := range j.Parts {
			r.Runs = append(r.Runs, record.RunJudgement{Round: q.Round, Repeat: q.Repeat, Outcome: string(q.Outcome), Label: q.Label, Reason: q.Reason, Operands: operands(q.Operands)})
		}
		out = append(out, r)
	}
	return out
}

// operands are as they are stored. One without a value says so: why it has none is the judgement's reason.
func operands(in []verdict.Operand) (out []record.Operand) {
	for _, o := range in {
		out = append(out, record.Operand{Text: o.Text, Value: cmp.Or(o.Value, "n/a")})
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
		x := record.Target{Name: c.Coord.Target, About: t.About, Own: c.declared.own(), CannotEqual: t.CannotEqual, Unsupported: map[string]string{}, Program: env.Programs[c.Coord.Target]}
		for _, k := range t.With {
			x.Knobs = append(x.Knobs, record.Knob{Name: k.Name, Value: p.redact(cmp.Or(k.Val.Value.Written, fmt.Sprint(k.Val.Value.V))), Why: p.redact(k.Val.Why)})
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
		if v.Beside != "" { // it is no section: see Earlier
			continue
		}
		s := record.Section{Kind: v.Section, Rows: v.Rows, Columns: v.Columns, Metrics: v.Metrics, As: v.As, Aggregate: v.Aggregate, Cells: []int{}}
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
			s.Ratios = append(s.Ratios, record.Ratio{Of: r.Of, To: against(r.To), Metrics: r.Metrics, DistortedAbove: float64(r.DistortedAbove), DistortsAll: r.Distorted == "all"})
		}
		if v.Losses.Against.Target != "" || v.Losses.Against.Best != nil {
			a := against(v.Losses.Against)
			s.Losses = &a
		}
		out = append(out, s)
	}
	return out
}

// An Earlier is an earlier result set that the plan wants beside its own figures in the report.
type Earlier struct{ Dir, Label string }

// Earlier are those of the plan's report, in its order.
func (p *Program) Earlier() (out []Earlier) {
	for i := range p.Plan.Report {
		if v := p.Plan.Report[i].Val; v.Beside != "" {
			out = append(out, Earlier{v.Beside, v.Label})
		}
	}
	return out
}

func against(r dsl.RatioTo) record.Against { return record.Against{Target: r.Target, Best: r.Best} }

// input is what the report is made of.
func input(set *record.Set, res *record.Results, env *record.Environment, g *gathered, unread *unread) report.Input {
	r := &recordings{set: set, runs: map[string]*record.Run{}, notes: g.notes, unread: unread}
	for _, run := range g.runs {
		r.runs[run.ID] = run
	}
	plan, _ := os.ReadFile(set.Path("plan.yaml")) // without it the report leaves it out
	return report.Input{Plan: string(plan), Results: res, Environment: env, Runs: g.runs, Series: r.series, Threads: r.threads, Latency: r.latency, Failed: r.failed, Waited: r.waited, Events: r.events}
}
