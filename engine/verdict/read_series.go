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
	all := replicasAt{s, process}
	return &object{replicasT, func(f string) ref.Val {
		v, err := all.read(f)
		if err != nil {
			return err
		}
		return types.NewRefValList(types.DefaultTypeAdapter, v)
	}, lister(all.each)}
}

// replicasAt are the replicas of a process in the runs of a spot.
type replicasAt struct {
	spot
	process string
}

// read gives a metric of each replica. The error is a value of the expression.
func (a replicasAt) read(name string) (out []ref.Val, err ref.Val) {
	c, runs, err := a.runs()
	m := Metric{}
	for _, x := range a.ix.Scenarios[c.Scenario].Replicas[a.process] {
		if x.Name == name {
			m = x
		}
	}
	a.note(c, name, m.Class, runs)
	if err != nil {
		return nil, err
	}
	n := len(runs[0].replicas(a.process))
	if n == 0 {
		return nil, missing("no data: %s has no replicas of %s", c, a.process)
	}
	for i := range n {
		perRun, err := a.perRun(c, runs, name, i)
		if err != nil {
			return nil, err
		}
		v := m.combine(name, perRun)
		if types.IsError(v) {
			return nil, v
		}
		out = append(out, v)
	}
	return out, nil
}

// perRun gives a metric of replica i in each run, as many values in each.
func (a replicasAt) perRun(c Coord, runs []*Run, name string, i int) (out [][]float64, err ref.Val) {
	n := len(runs[0].replicas(a.process))
	for _, r := range runs {
		if len(r.replicas(a.process)) != n {
			return nil, undefined("%s has %d replicas of %s in one run and %d in another", c, n, a.process, len(r.replicas(a.process)))
		}
		v, ok := floatsOf(r.replicas(a.process)[i][name])
		if !ok {
			return nil, missing("no data: %s of replica %d of %s in %s of %s", name, i+1, a.process, r, c)
		}
		if len(out) > 0 && len(v) != len(out[0]) {
			return nil, undefined("%s of replica %d of %s has %d values in one run and %d in another", name, i+1, a.process, len(out[0]), len(v))
		}
		out = append(out, v)
	}
	return out, nil
}

// each lists the replicas as objects whose fields are their metrics.
func (a replicasAt) each() ref.Val {
	c, runs, err := a.runs()
	if err != nil {
		return err
	}
	n := len(runs[0].replicas(a.process))
	if n == 0 {
		return missing("no data: %s has no replicas of %s", c, a.process)
	}
	out := make([]ref.Val, n)
	for i := range n {
		out[i] = &object{replicaT, func(f string) ref.Val {
			v, err := a.read(f)
			if err != nil {
				return err
			}
			return v[i]
		}, i}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, out)
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
