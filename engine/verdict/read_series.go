package verdict

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// series reads a series of the one run that is meant. Of a phase it is the part in the phase, in seconds since its begin.
func (s spot) series(name string) ref.Val {
	c, run, err := s.one("series(" + quote(name) + ")")
	class := OtherClass
	if sc := s.ix.Scenarios[c.Scenario]; sc != nil {
		for _, m := range sc.Series {
			if m.Name == name {
				class = m.Class
			}
		}
	}
	if err != nil {
		s.note(c, name, class, nil)
		return err
	}
	s.note(c, name, class, []*Run{run})
	data, why := s.seriesOf(run, name)
	switch {
	case why != nil:
		return because(Broken, "series %s of %s of %s: %v", name, run, c, why)
	case data == nil:
		return missing("no data: %s of %s has no series %s", run, c, name)
	}
	for i, v := range data.V {
		if e := finite(fmt.Sprintf("%s at %s s", name, number(data.T[i])), v); types.IsError(e) {
			return e
		}
	}
	out := &Series{name, data.T, data.V}
	if s.phase != "" {
		w := run.Phases[s.phase]
		if w == nil {
			return missing("no data: %s of %s", run, s)
		}
		out = out.between(w.Start, w.Start+w.Seconds).shift(-w.Start)
	}
	return seriesObject(out)
}

// seriesOf reads a series of a run.
func (r *reader) seriesOf(run *Run, name string) (d *Series, err error) {
	if run.Samples != nil {
		r.time.reading(func() { d, err = run.Samples.Series(name) })
	}
	return d, err
}

// between keeps the samples in [from, to].
func (d *Series) between(from, to float64) *Series {
	i, _ := slices.BinarySearch(d.T, from)
	j, found := slices.BinarySearch(d.T, to)
	for found && j < len(d.T) && d.T[j] == to {
		j++
	}
	if j < i {
		j = i
	}
	return &Series{d.Name, d.T[i:j], d.V[i:j]}
}

func (d *Series) shift(by float64) *Series {
	t := make([]float64, len(d.T))
	for i, x := range d.T {
		t[i] = x + by
	}
	return &Series{d.Name, t, d.V}
}

func seriesObject(d *Series) *object { return &object{seriesT, nothing("a series"), d} }

// replicas is replicas("process"): its fields are lists of one value a replica, and macros go through the replicas.
func (s spot) replicas(process string) ref.Val {
	read := func(name string) ([]ref.Val, ref.Val) {
		c, runs, err := s.runs()
		m := Metric{}
		for _, x := range s.ix.Scenarios[c.Scenario].Replicas[process] {
			if x.Name == name {
				m = x
			}
		}
		s.note(c, name, m.Class, runs)
		if err != nil {
			return nil, err
		}
		n := len(runs[0].Replicas[process])
		out := make([]ref.Val, n)
		for i := range n {
			var perRun [][]float64
			for _, r := range runs {
				if len(r.Replicas[process]) != n {
					return nil, undefined("%s has %d replicas of %s in one run and %d in another", c, n, process, len(r.Replicas[process]))
				}
				v, ok := floatsOf(r.Replicas[process][i][name])
				if !ok {
					return nil, missing("no data: %s of replica %d of %s in %s of %s", name, i+1, process, r, c)
				}
				if len(perRun) > 0 && len(v) != len(perRun[0]) {
					return nil, undefined("%s of replica %d of %s has %d values in one run and %d in another", name, i+1, process, len(perRun[0]), len(v))
				}
				perRun = append(perRun, v)
			}
			if out[i] = m.combine(name, perRun); types.IsError(out[i]) {
				return nil, out[i]
			}
		}
		if n == 0 {
			return nil, missing("no data: %s has no replicas of %s", c, process)
		}
		return out, nil
	}
	return &object{replicasT, func(f string) ref.Val {
		v, err := read(f)
		if err != nil {
			return err
		}
		return types.NewRefValList(types.DefaultTypeAdapter, v)
	}, lister(func() ref.Val {
		c, runs, err := s.runs()
		if err != nil {
			return err
		}
		n := len(runs[0].Replicas[process])
		if n == 0 {
			return missing("no data: %s has no replicas of %s", c, process)
		}
		out := make([]ref.Val, n)
		for i := range n {
			out[i] = &object{replicaT, func(f string) ref.Val {
				v, err := read(f)
				if err != nil {
					return err
				}
				return v[i]
			}, i}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, out)
	})}
}

// combine makes one value of those of the runs, element by element where the metric is a list.
func (m Metric) combine(name string, perRun [][]float64) ref.Val {
	out := make([]float64, len(perRun[0]))
	for k := range out {
		var across []float64
		for _, v := range perRun {
			if e := finite(name, v[k]); types.IsError(e) {
				return e
			}
			across = append(across, v[k])
		}
		out[k] = m.Across.of(across)
	}
	if m.List {
		return toCEL(name, out)
	}
	if len(out) != 1 {
		return undefined("%s is a list of %d values, not a number", name, len(out))
	}
	return types.Double(out[0])
}

func floatsOf(v any) ([]float64, bool) {
	switch v := v.(type) {
	case float64:
		return []float64{v}, true
	case []float64:
		return v, true
	}
	return nil, false
}
