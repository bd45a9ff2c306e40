package verdict

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/planrun/planrun/engine/stats"
)

// reader reads results for one evaluation. With round or repeat set, every cell means its runs of that round and repeat.
type reader struct {
	ix            *index
	data          *Data
	now           *Run // the run that goes on, or whose own metric is computed: the only run of cell at
	at            Coord
	round, repeat int
	rec           *recorder
	time          *budget // of the evaluation; nil: it takes none
}

// spot is what an address means: a cell, and perhaps a phase, a load, one run.
type spot struct {
	*reader
	place
	phase, load string
	only        *Run
}

func (r *reader) here() spot { return spot{reader: r, place: place{Coord: r.at}} }

func (s spot) String() string {
	out := s.resolve(s.ix).String()
	if s.phase != "" {
		out += " phase " + s.phase
	}
	if s.load != "" {
		out += " load " + s.load
	}
	return out
}

func (s spot) object() *object {
	t := cellT
	switch {
	case s.load != "":
		t = loadT
	case s.phase != "":
		t = phaseT
	}
	return &object{t, func(f string) ref.Val {
		if f == "runs" && t == cellT {
			return s.runsObject()
		}
		return s.metric(f)
	}, s}
}

// runs finds the runs that s means; there is at least one, and all can be read.
func (s spot) runs() (Coord, []*Run, ref.Val) {
	c := s.resolve(s.ix)
	if why := s.ix.noCell(s.place); why != "" {
		return c, nil, because(s.notThere(), "no such cell: %s", why)
	}
	if s.now != nil && c == s.at {
		return c, []*Run{s.now}, nil
	}
	cell := (*Cell)(nil)
	if s.data != nil {
		cell = s.data.Cells[c]
	}
	if cell == nil {
		if why := s.ix.unsupported(c); why != "" {
			return c, nil, because(s.notThere(), "%s is unsupported: %s", c, why)
		}
		return c, nil, missing("no data: %s has no run", c)
	}
	switch cell.State {
	case LeftOut:
		return c, nil, missing("no data: %s was left out", c)
	case Skipped:
		return c, nil, because(s.notThere(), "%s is unsupported: %s", c, cell.Reason)
	case Failed:
		return c, nil, because(Broken, "%s failed: %s", c, cell.Reason)
	}
	out := cell.Runs
	if s.only != nil {
		out = []*Run{s.only}
	} else if s.round > 0 {
		out = slices.DeleteFunc(slices.Clone(out), func(r *Run) bool { return r.Round != s.round || s.repeat > 0 && r.Repeat != s.repeat })
	}
	switch {
	case len(out) == 0 && s.repeat > 0:
		return c, nil, missing("no data: %s has no run of round %d, repeat %d", c, s.round, s.repeat)
	case len(out) == 0 && s.round > 0:
		return c, nil, missing("no data: %s has no run of round %d", c, s.round)
	case len(out) == 0:
		return c, nil, missing("no data: %s has no run", c)
	case s.only == nil && s.round == 0 && len(out) < cell.Planned:
		s.rec.absorb(&Reason{TooFew, fmt.Sprintf("too few runs: %d of %d of %s", len(out), cell.Planned, c)})
	}
	for _, r := range out {
		switch r.Outcome {
		case "":
		case Errored:
			return c, out, because(Broken, "%s of %s failed: %s", r, c, r.Reason)
		default:
			return c, out, because(Stopped, "%s of %s: %s", r, c, r.Reason)
		}
	}
	return c, out, nil
}

// notThere is the cause where a cell is skipped or none: for a loop over targets the value is undefined, else the verdict
// is unsupported.
func (s spot) notThere() Cause {
	if s.looped {
		return Undefined
	}
	return Unsupported
}

func (r *Run) String() string {
	if r.Round > 1 {
		return fmt.Sprintf("round %d, run %d", r.Round, r.Repeat)
	}
	return fmt.Sprintf("run %d", max(1, r.Repeat))
}

// window gives the figures that s means in one run; nil: there are none.
func (s spot) window(r *Run) *Window {
	switch {
	case s.phase != "" && s.load != "":
		if w := r.Phases[s.phase]; w != nil {
			return w.Loads[s.load]
		}
		return nil
	case s.phase != "":
		return r.Phases[s.phase]
	case s.load != "":
		return r.Loads[s.load]
	}
	return &Window{Metrics: r.Metrics, Answers: r.Answers}
}

// note records a read, and with it the runs whose guards count. The runs that cannot be read count too.
func (s spot) note(c Coord, name string, class Class, runs []*Run) {
	for i, have := range s.rec.reads {
		if have.Cell == c && have.Metric == name && have.Phase == s.phase && have.Load == s.load {
			for _, r := range runs {
				if !slices.Contains(have.runs, r) {
					s.rec.reads[i].runs = append(s.rec.reads[i].runs, r)
				}
			}
			return
		}
	}
	s.rec.reads = append(s.rec.reads, Read{c, name, s.phase, s.load, class, slices.Clone(runs)})
}

// values reads one number of every run; a run without it is an error, never a shorter list.
func (s spot) values(name string) (Metric, []float64, ref.Val) {
	c, runs, err := s.runs()
	m, ok := s.ix.metric(c, name)
	if s.load != "" {
		m, ok = s.ix.loadMetric(c, s.load, name)
	}
	seconds := name == "seconds" && (s.phase != "" || s.load != "")
	s.note(c, name, m.Class, runs)
	if err != nil {
		return m, nil, err
	}
	if !ok && !seconds {
		return m, nil, because(s.notThere(), "%s has no %s", s, name)
	}
	out := make([]float64, len(runs))
	for i, r := range runs {
		w := s.window(r)
		if w == nil {
			return m, nil, missing("no data: %s of %s", r, s)
		}
		v, ok := w.figure(name)
		if seconds {
			v, ok = w.Seconds, true
		}
		if !ok && r.Absent[name] != "" {
			return m, nil, missing("no data: %s of %s has no %s: %s", r, s, name, r.Absent[name])
		} else if !ok {
			return m, nil, missing("no data: %s of %s has no %s", r, s, name)
		}
		if e := finite(fmt.Sprintf("%s of %s of %s", name, r, s), v); types.IsError(e) {
			return m, nil, e
		}
		out[i] = v
	}
	return m, out, nil
}

// whole is a number of a cell that is known of all its runs together only; ok is false if it is none.
func (s spot) whole(name string) (v float64, ok bool) {
	if s.data == nil || s.now != nil || s.only != nil || s.repeat > 0 || s.phase != "" || s.load != "" {
		return 0, false
	}
	c, runs, err := s.runs()
	if err != nil {
		return 0, false
	}
	if v, ok = s.data.Cells[c].Whole[name]; ok {
		m, _ := s.ix.metric(c, name)
		s.note(c, name, m.Class, runs)
	}
	return v, ok
}

func (s spot) metric(name string) ref.Val {
	if v, ok := s.whole(name); ok {
		return finite(name, v)
	}
	m, v, err := s.values(name)
	if err != nil {
		return err
	}
	return types.Double(m.Across.of(v))
}

// of makes one number of those of the runs.
func (a Across) of(v []float64) float64 {
	switch a {
	case BySum:
		return stats.Sum(v)
	case ByMax:
		return slices.Max(v)
	case ByMean:
		return stats.Mean(v)
	}
	return stats.Median(v)
}
