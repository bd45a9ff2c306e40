package verdict

import "fmt"

// unpaired says why a judgement of single runs says nothing, or "": it sets a figure beside another one run by run, and of
// one of them it is not known which run gave which value.
func (p *Part) unpaired() string {
	if p.Repeat == 0 {
		return ""
	}
	for _, r := range p.reads {
		for _, run := range r.runs {
			if !run.Ranked[r.Metric] {
				continue
			}
			for _, o := range p.reads {
				if o.Metric != r.Metric || o.Cell != r.Cell {
					return fmt.Sprintf("which run of %s gave which %s is not known, so it cannot be set beside %s run by run", r.Cell, r.Metric, o.Metric)
				}
			}
		}
	}
	return ""
}
