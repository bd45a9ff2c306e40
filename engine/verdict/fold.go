package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// severity is the order in which the outcomes of parts decide: any fail is a fail, else any error, else any inconclusive.
var severity = []Outcome{Fail, Errored, Inconclusive, NotSupported, Pass, NotJudged}

// fold makes one judgement of those of the runs or rounds.
func (j *Judgement) fold(mixed, of string) {
	count := map[Outcome]int{}
	for _, p := range j.Parts {
		count[p.Outcome]++
		if p.Outcome != NotJudged {
			j.N++
		}
		j.Reads = append(j.Reads, p.reads...)
		j.Guards = append(j.Guards, p.Guards...)
	}
	for _, o := range severity {
		if count[o] > 0 {
			j.Outcome = o
			break
		}
	}
	j.decide()
	if mixed == "inconclusive" && j.Outcome == Fail && count[Pass] > 0 {
		j.Outcome, j.Label, j.Distance = Inconclusive, "", nil
		j.Reason = fmt.Sprintf("noisy, %d of %d", count[Pass], j.N)
	}
	if j.Outcome == Fail || j.Outcome == Inconclusive && count[Inconclusive] > 0 {
		if n := count[j.Outcome]; n < len(j.Parts) && !strings.HasPrefix(j.Reason, "noisy") {
			j.Reason = strings.TrimSuffix(fmt.Sprintf("%d of %d %s: %s", n, len(j.Parts), of, j.Reason), ": ")
		}
	}
}

// decide takes text, operands, distance and reason of the first part that decided, and the labels of all that did.
func (j *Judgement) decide() {
	var labels []string
	first := true
	for _, p := range j.Parts {
		if p.Outcome != j.Outcome {
			continue
		}
		if first {
			j.Reason, j.Text, j.Operands, j.Broke, j.Distance, first = p.Reason, p.Text, p.Operands, p.Broke, p.Distance, false
		}
		if p.Label != "" && !slices.Contains(labels, p.Label) {
			labels = append(labels, p.Label)
		}
	}
	j.Label = strings.Join(labels, ", ")
}
