package dsl

// Expressions are the texts of all expressions of the plan but those of params, in ${{ }} and as conditions, in no order
// that means anything; one that is written twice is there twice.
func (p *Plan) Expressions() (out []string) {
	add := func(q *part) {
		for _, h := range q.holes {
			out = append(out, h.Text)
		}
		for _, e := range q.exprs {
			out = append(out, e.Text)
		}
	}
	add(&p.Host.part)
	all(add, p.Setup)
	all(add, p.Backends)
	all(add, p.Relays)
	all(add, p.Targets)
	all(add, p.Loads)
	all(add, p.Scenarios)
	all(add, p.Schedule)
	all(add, p.Probes)
	all(add, p.Metrics)
	all(add, p.Verdicts)
	all(add, p.Report)
	return out
}

func all[T any](add func(*part), parts []Part[T]) {
	for i := range parts {
		add(&parts[i].part)
	}
}
