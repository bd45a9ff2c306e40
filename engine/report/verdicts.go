package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// Verdicts are all verdicts in the plan's order, with what they judged: the gravest outcomes first.
type Verdicts []Verdict

// A Verdict of the plan.
type Verdict struct {
	Name, About string
	Judged      []Judged
}

// Judged is one judgement of a verdict. Runs has those of single runs, where the verdict judges runs; the one of the only
// run is left out, since the judgement itself says it.
type Judged struct {
	Of         string // "throughput / h1-small / nginx"
	Outcome    string // as in package record
	Label      string // of cases
	Expression string
	Operands   []record.Operand
	N          int    // runs that it rests on
	Gate       string // "no", "yes", "if it fails": a gate may hold for some cells only
	Why        string
	Runs       []JudgedRun
}

// A JudgedRun is the judgement of one run or round.
type JudgedRun struct {
	Of             string // "round 1, repeat 2"
	Outcome, Label string
	Operands       []record.Operand
	Why            string
}

// verdictSection holds the verdicts.
func verdictSection(b *builder) (Section, error) {
	s := Section{Title: "Verdicts"}
	if len(b.res.Verdicts) == 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("The plan judges nothing, or nothing was judged.")})
		return s, nil
	}
	var all Verdicts
	at := map[string]int{}
	for _, j := range b.res.Verdicts {
		i, ok := at[j.Verdict]
		if !ok {
			i = len(all)
			at[j.Verdict] = i
			all = append(all, Verdict{Name: j.Verdict})
		}
		v := &all[i]
		if v.About == "" {
			v.About = aboutOf(j)
		}
		judged := Judged{Of: b.place(j.Coord), Outcome: j.Outcome, Label: j.Label, Expression: j.Expression, Operands: j.Operands, N: j.N, Gate: gateWords(j.Gate), Why: because(j)}
		if len(j.Runs) > 1 {
			for _, r := range j.Runs {
				judged.Runs = append(judged.Runs, JudgedRun{b.which(r.Round, r.Repeat), r.Outcome, r.Label, r.Operands, r.Reason})
			}
		}
		v.Judged = append(v.Judged, judged)
	}
	for i := range all {
		slices.SortStableFunc(all[i].Judged, func(x, y Judged) int { return cmp.Compare(gravity(x.Outcome), gravity(y.Outcome)) })
	}
	s.Blocks = append(append(s.Blocks, all), b.readings(asks(b.res.Verdicts...))...)
	return s, nil
}

// aboutOf is why a verdict matters, and what the names in its expressions stand for.
func aboutOf(j record.Judgement) string {
	var parts []string
	if j.About != "" {
		parts = append(parts, j.About)
	}
	for _, l := range j.Let {
		parts = append(parts, l.Text+" = "+l.Value)
	}
	return strings.Join(parts, "; ")
}

// outcome is an outcome's word, with the label of the case that held.
func outcome(outcome, label string) Text {
	t := text(badge(outcome))
	if label != "" {
		t = append(t, text(": ", label)...)
	}
	return t
}

func expression(s string) Text {
	if strings.TrimSpace(s) == "" {
		return text("-")
	}
	return text(mono(s))
}

func gateWords(gate string) string {
	switch gate {
	case "", "false":
		return "no"
	case "true":
		return "yes"
	case "fail-only":
		return "if it fails"
	}
	return gate
}

// because is why a judgement is what it is, with the first time that a series broke it.
func because(j record.Judgement) string {
	parts := []string{}
	if reason := ownReason(j); reason != "" {
		parts = append(parts, reason)
	}
	if j.Broke != "" {
		parts = append(parts, "first broken at "+j.Broke)
	}
	return strings.Join(parts, "; ")
}

// dashed is dash of a text.
func dashed(t Text) Text {
	if plain(t) == "" {
		return text("-")
	}
	return t
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
