package verdict

import "slices"

// gate says whether a judgement of a group gates.
func (r *rule) gate(g group, o Options) string {
	gate := r.Gate
	switch o.Gate {
	case "":
		if !slices.ContainsFunc(g.cells, func(c Coord) bool { return r.gates[c] }) {
			return ""
		}
		return gate
	case "none":
		return ""
	case "all":
	default:
		if g.at.Target != o.Gate {
			return ""
		}
	}
	if gate == "" {
		gate = "true"
	}
	return gate
}

// Summary counts what decides the exit code.
type Summary struct {
	Passed, Failed, Inconclusive, Unsupported, Errored int      // gating judgements
	Nothing                                            []string // gating verdicts that judged no cell
}

// Exit is 0, 1 (a gating verdict failed), 3 (one is inconclusive, or judged nothing) or 4 (one could not be judged because
// the harness failed). Codes of an order before these (5, 130) are the caller's.
func (s Summary) Exit() int {
	switch {
	case s.Errored > 0:
		return 4
	case s.Failed > 0:
		return 1
	case s.Inconclusive > 0 || len(s.Nothing) > 0:
		return 3
	}
	return 0
}

// Summarize folds the gates. A gate of which all cells were left out does not count; one that otherwise judged no cell
// (all unsupported, or its `when` false everywhere) judged nothing.
func (r *Rules) Summarize(js []Judgement) (s Summary) {
	for _, rule := range r.rules {
		gating, judged := false, false
		for _, j := range js {
			if j.Definition == rule.index && j.Gate != "" {
				gating = true
				judged = s.count(j) || judged
			}
		}
		if gating && !judged {
			s.Nothing = append(s.Nothing, rule.Name)
		}
	}
	return s
}

// count adds a gating judgement; it reports whether a cell was judged.
func (s *Summary) count(j Judgement) bool {
	switch j.Outcome {
	case Pass:
		s.Passed++
	case Fail:
		s.Failed++
	case Inconclusive:
		if j.Gate == "true" {
			s.Inconclusive++
		}
	case Errored:
		s.Errored++
	default:
		if j.Outcome == NotSupported {
			s.Unsupported++
		}
		return false
	}
	return true
}
