package verdict

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/planrun/planrun/engine/stats"
)

// runsObject is `runs`: all runs of the cell, also where one run is judged; of a round where a round is.
func (s spot) runsObject() *object {
	if s.repeat > 0 {
		all := *s.reader
		all.round, all.repeat = 0, 0
		s.reader = &all
	}
	return &object{runsT, func(f string) ref.Val {
		_, v, err := s.values(f)
		if err != nil {
			return err
		}
		return toCEL(f, v)
	}, lister(func() ref.Val {
		_, runs, err := s.runs()
		if err != nil {
			return err
		}
		out := make([]ref.Val, len(runs))
		for i, r := range runs {
			one := s
			one.only = r
			out[i] = one.object()
		}
		return types.NewRefValList(types.DefaultTypeAdapter, out)
	})}
}

// distorted says why a latency of s says nothing, or "".
func (s spot) distorted() (string, ref.Val) {
	var requests, failed, slow float64
	for name, into := range map[string]*float64{"requests": &requests, "failed": &failed, "slow_over_1s": &slow} {
		if _, known := s.ix.metric(s.resolve(s.ix), name); !known {
			continue // a scenario whose latencies are not those of a load
		}
		if sum, ok := s.whole(name); ok { // of counters it is their sum
			*into = sum
			continue
		}
		_, v, err := s.values(name)
		if err != nil {
			return "", err
		}
		*into = stats.Sum(v)
	}
	return stats.Distorted(s.String(), requests, failed, slow, s.ix.DistortedAbove), nil
}

// answeredBy is how many answers one gave: of a load that counts, one who gave none gave 0.
func (s spot) answeredBy(who string) ref.Val {
	c, runs, err := s.runs()
	s.note(c, "by "+who, Count, runs)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, r := range runs {
		w := s.window(r)
		if w == nil || w.Answers == nil {
			return missing("no data: %s of %s counted no answers by who gave them", r, s)
		}
		n, known := w.Answers[who]
		if !known && w.Answers["(other)"] > 0 {
			return missing("no data: more different values answered %s of %s than are told apart, %s may be one of the others", r, s, quote(who))
		}
		sum += n
	}
	return types.Double(sum)
}

func (s spot) events(kind string) ref.Val {
	c, runs, err := s.runs()
	s.note(c, "events "+kind, OtherClass, runs)
	if err != nil {
		return err
	}
	out := []ref.Val{} // an empty list of events is a result: nothing happened
	for _, r := range runs {
		evs, watched, why := s.eventsOf(r, kind)
		if why != nil {
			return because(Broken, "events %s of %s of %s: %v", kind, r, c, why)
		}
		if !watched {
			return missing("no data: nothing watched for events %q in %s of %s", kind, r, c)
		}
		w := s.window(r)
		if w == nil {
			return missing("no data: %s of %s", r, s)
		}
		for _, e := range evs {
			if s.phase != "" && (e.At < w.Start || e.At > w.Start+w.Seconds) {
				continue
			}
			fields := map[string]ref.Val{"at": finite("at", e.At), "process": types.String(e.Process), "detail": types.String(e.Detail)}
			out = append(out, &object{eventT, func(f string) ref.Val { return fields[f] }, e})
		}
	}
	return eventList{types.NewRefValList(types.DefaultTypeAdapter, out)}
}

// eventsOf reads the events of a kind of a run.
func (r *reader) eventsOf(run *Run, kind string) (events []Event, watched bool, err error) {
	if run.Samples != nil {
		r.time.reading(func() { events, watched, err = run.Samples.Events(kind) })
	}
	return events, watched, err
}

// targetList is `targets` or `targets.measured`.
func (r *reader) targetList(measured bool) ref.Val {
	var out []ref.Val
	for _, t := range r.ix.Targets {
		if t.Missing != "" || measured && !r.measured(t.Name) {
			continue
		}
		out = append(out, &object{targetT, func(string) ref.Val { return types.String(t.Name) }, t.Name})
	}
	return types.NewRefValList(types.DefaultTypeAdapter, out)
}

func (r *reader) measured(target string) bool {
	if r.data == nil {
		return false
	}
	for c, cell := range r.data.Cells {
		if c.Target == target && cell.State == Ran && len(cell.Runs) > 0 {
			return true
		}
	}
	return false
}

// one gives the single run that a series is of.
func (s spot) one(what string) (Coord, *Run, ref.Val) {
	c, runs, err := s.runs()
	switch {
	case err != nil:
		return c, nil, err
	case len(runs) > 1:
		return c, nil, undefined("%s is of one run, but %s has %d here; use each: run", what, c, len(runs))
	}
	return c, runs[0], nil
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `'`) + `"` }
