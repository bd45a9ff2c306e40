package verdict

import (
	"context"
	"fmt"
	"slices"
)

// part judges one run, one round, or all together.
func (r *rule) part(ctx context.Context, d *Data, at Coord, round, repeat int, run *Run) Part {
	p := Part{Round: round, Repeat: repeat}
	if run != nil && run.Outcome != "" {
		p.Outcome, p.Reason = run.Outcome, run.Reason
		return p
	}
	v := Values{At: at, Round: round, Repeat: repeat, Data: d, lets: map[string]*letValue{}}
	if r.when != nil {
		res := r.when.Eval(ctx, v)
		p.saw(r.when, res)
		if ok, why := res.Holds(); why != nil {
			p.Outcome, p.Reason = outcomeOf(why), why.Text
			p.guard()
			return p
		} else if !ok {
			p.Outcome, p.Reason = NotJudged, "when is false: "+r.When
			return p
		}
	}
	if r.pass != nil {
		res := r.pass.Eval(ctx, v)
		p.saw(r.pass, res)
		p.Text = r.Pass
		switch ok, why := res.Holds(); {
		case why != nil:
			p.Outcome, p.Reason = outcomeOf(why), why.Text
		case ok:
			p.Outcome = Pass
		default:
			p.Outcome, p.Broke, p.Distance = Fail, res.Broke, res.Distance
		}
		p.guard()
		return p
	}
	r.judgeCases(ctx, v, &p)
	p.guard()
	return p
}

// judgeCases takes the first case that holds; one that cannot be evaluated ends, it never falls through.
func (r *rule) judgeCases(ctx context.Context, v Values, p *Part) {
	for i, k := range r.Cases {
		p.Label, p.Text, p.Outcome = k.Is, k.When, k.Outcome
		if r.cases[i] == nil {
			return
		}
		res := r.cases[i].Eval(ctx, v)
		p.saw(r.cases[i], res)
		switch {
		case res.Err != nil:
			p.Label, p.Outcome, p.Reason = "", outcomeOf(res.Err), fmt.Sprintf("whether it is %s cannot be said: %s", k.Is, res.Err.Text)
			return
		case res.Value != true:
			continue
		case len(res.Absorbed) > 0 && k.Outcome == Pass:
			why := worst(res.Absorbed)
			p.Label, p.Outcome, p.Reason = "", outcomeOf(why), why.Text
			return
		}
		p.Reason = ""
		if k.Outcome != Pass {
			p.Reason = k.When
		}
		if k.Outcome == Fail {
			p.Distance = res.Distance
		}
		return
	}
	p.Label, p.Text, p.Outcome, p.Reason = "", "", Inconclusive, "no case holds"
}

// saw keeps what an evaluation read.
func (p *Part) saw(prog *Program, res Result) {
	for _, o := range res.Operands {
		if !slices.Contains(p.Operands, o) {
			p.Operands = append(p.Operands, o)
		}
	}
	p.reads = append(p.reads, res.Reads...)
	p.Guards = append(p.Guards, res.Tainted...)
}

// guard makes a judgement that rests on a tainted metric, or on runs that cannot be told apart, inconclusive.
func (p *Part) guard() {
	if why := p.unpaired(); why != "" && (p.Outcome == Pass || p.Outcome == Fail || p.Outcome == Inconclusive) {
		p.Outcome, p.Label, p.Broke, p.Distance, p.Reason = Inconclusive, "", "", nil, why
	}
	if len(p.Guards) == 0 || p.Outcome != Pass && p.Outcome != Fail && p.Outcome != Inconclusive {
		return
	}
	if p.Outcome == Fail && !slices.ContainsFunc(p.Guards, func(t Tainted) bool { return t.Class != Passes }) {
		return
	}
	g := p.Guards[0]
	p.Outcome, p.Label, p.Broke, p.Distance = Inconclusive, "", "", nil
	p.Reason = fmt.Sprintf("guard %s: %s (%s of %s)", g.Guard, g.Message, g.Metric, g.Cell)
}

// take makes a judgement of one part.
func (j *Judgement) take(p Part) {
	j.Outcome, j.Label, j.Reason, j.Text, j.Operands, j.Broke, j.Distance, j.Guards, j.Reads = p.Outcome, p.Label, p.Reason, p.Text, p.Operands, p.Broke, p.Distance, p.Guards, p.reads
}
