package record

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// Run reads the run.json of a run. A run whose engine died is Unfinished; of one that died before anything was known,
// only the ID is.
func (s *Set) Run(id string) (*Run, error) {
	r, err := versioned(s.reader.run(s.Path("runs", id, "run.json")))
	var syntax *json.SyntaxError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &syntax) {
		return &Run{Version: Version, ID: id, Status: Unfinished, Reason: "planrun ended before it had written what the run is"}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	r.ID = id
	if r.Status == "" {
		r.Status = Unfinished
	}
	return r, nil
}

// Kept is Run, with what is known of a run whose run.json cannot be read: its ID, and that it failed, with the reason. The
// rest of the set is as good as it was.
func (s *Set) Kept(id string) *Run {
	r, err := s.Run(id)
	if err != nil {
		r = &Run{Version: Version, ID: id, Status: Failed, Reason: "its record cannot be read: " + err.Error(), Unreadable: true}
		if s.Unread != nil {
			s.Unread(r)
		}
	}
	return r
}

// run reads a run.json, and keeps its digest: see Digest.
func (r *reader) run(path string) (*Run, error) {
	run, text, err := readJSONText[Run](path, r.options)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	run.sum, run.Missing = sum[:], r.reasons.shared(run.Missing)
	return run, nil
}

// read reads the part of what was recorded of d.Run: also what can be read where a file cannot, which is the error.
func (d *Data) read(open func(name string) (io.ReadCloser, error), p Part) error {
	var n notes
	j := join{part: p, sums: map[secondKey]*load.Second{}, hists: map[histKey]*histSum{}, where: map[hlogKey]histKey{}, notes: &n}
	var errs []error
	if p.Points != nil || p.Seconds {
		errs = append(errs, readLines(open, "series.jsonl", &n, func(line []byte) error { return j.seriesLine(d, line) }))
	}
	if p.Seconds && len(p.Histograms) > 0 {
		errs = append(errs, readLines(open, "latency.hlog", &n, j.hlogLine))
	}
	if p.Events {
		errs = append(errs, readLines(open, "events.jsonl", &n, func(line []byte) error { return eventLine(d, line) }))
	}
	d.Seconds = j.seconds()
	slices.SortStableFunc(d.Points, func(a, b series.Point) int { return compare(a.T, b.T) })
	slices.SortStableFunc(d.Events, func(a, b Event) int { return compare(a.T, b.T) })
	d.Notes = n.all()
	return errors.Join(errs...)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func eventLine(d *Data, line []byte) error {
	var e Event
	if err := decode(line, &e); err != nil {
		return err
	}
	d.Events = append(d.Events, e)
	return nil
}

// A join brings counters and histograms of seconds together again.
type join struct {
	part  Part
	sums  map[secondKey]*load.Second
	hists map[histKey]*histSum
	where map[hlogKey]histKey
	notes *notes
}

type histKey struct {
	secondKey
	what string
}

// A histSum is the sum of one kind of histogram of a second: as counted, and as read from the log.
type histSum struct {
	histLine
	raw *hdrhistogram.PackedHistogram
}

func (j *join) seriesLine(d *Data, line []byte) error {
	if !j.part.wants(line) {
		return nil
	}
	var l seriesLine
	if err := decode(line, &l); err != nil {
		return err
	}
	if l.Load == nil {
		if l.Series == "" {
			return errors.New("it is neither a point nor a second of a load")
		}
		if j.part.Points != nil && j.part.Points(l.Series) {
			d.Points = append(d.Points, l.Point)
		}
		return nil
	}
	if !j.part.Seconds {
		return nil
	}
	k := secondKey{l.Load.Load, l.Load.Phase, l.Load.Second}
	sum := j.sums[k]
	if sum == nil {
		sum = &load.Second{Load: k.load, Worker: AllWorkers, Phase: k.phase, Second: k.second}
		j.sums[k] = sum
	}
	AddCounts(&sum.Counts, l.Load.Counts)
	for what, h := range l.Hists {
		if l.At == nil || histogram(sum, what) == nil || h.N < 0 || h.Over < 0 || h.Min > h.Max {
			return fmt.Errorf("what it says of the histogram %q makes no sense", what)
		}
		if !slices.Contains(j.part.Histograms, what) {
			continue
		}
		hk := histKey{k, what}
		j.where[hlogKey{tag(sum, what), *l.At}] = hk
		s := j.hists[hk]
		if s == nil {
			s = &histSum{histLine: histLine{Min: h.Min, Max: h.Max}}
			j.hists[hk] = s
		}
		s.N, s.Over = s.N+h.N, s.Over+h.Over
		s.Min, s.Max = min(s.Min, h.Min), max(s.Max, h.Max)
	}
	return nil
}

func (j *join) hlogLine(line []byte) error {
	key, h, ok, err := parseHlog(line, j.part.Histograms)
	if err != nil || !ok {
		return err
	}
	k, ok := j.where[key]
	if !ok {
		return fmt.Errorf("no counters of %s at %.3f s", key.tag, float64(key.at)/1000)
	}
	s := j.hists[k]
	if s.raw == nil {
		s.raw, err = hdr.Ours(h) // those that are added to it may have a wider range than this one was written with
		return err
	}
	if dropped := s.raw.Merge(h); dropped != 0 {
		return fmt.Errorf("%d values of %s are out of range", dropped, key.tag)
	}
	return nil
}

// seconds gives the sums, in order, and notes histograms that do not hold what was counted.
func (j *join) seconds() []load.Second {
	for k, s := range j.hists {
		if s.raw == nil && s.N > s.Over {
			j.notes.add("latency.hlog", "no %s of %s at second %d in phase %s (%d values)", k.what, k.load, k.second, k.phase, s.N)
			continue
		}
		h, err := hdr.Restore(s.raw, s.Min, s.Max, s.Over)
		if err != nil {
			j.notes.add("latency.hlog", "%s of %s at second %d: %v", k.what, k.load, k.second, err)
			continue
		}
		if h.Count() != s.N {
			j.notes.add("latency.hlog", "%s of %s at second %d in phase %s has %d values, not %d", k.what, k.load, k.second, k.phase, h.Count(), s.N)
		}
		*histogram(j.sums[k.secondKey], k.what) = h
	}
	out := make([]load.Second, 0, len(j.sums))
	for _, s := range j.sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b load.Second) int {
		if d := strings.Compare(a.Load, b.Load); d != 0 {
			return d
		}
		if d := a.Second - b.Second; d != 0 {
			return d
		}
		return strings.Compare(a.Phase, b.Phase)
	})
	return out
}

// closePhases ends the phase in which the engine died at the last moment of which anything is known, and takes away those
// that never began.
func closePhases(d *Data) {
	last := 0.0
	for _, p := range d.Points {
		last = max(last, p.T)
	}
	for _, e := range d.Events {
		last = max(last, e.T)
	}
	starts := map[string]float64{}
	for _, l := range d.Run.Loads {
		starts[l.Name] = l.Start
	}
	for _, s := range d.Seconds {
		last = max(last, starts[s.Load]+float64(s.Second)+1)
	}
	r := d.Run
	began := r.Phases[:0:0]
	for i, p := range r.Phases {
		if i > 0 && p.Start == 0 && p.End == 0 {
			continue
		}
		if p.End == 0 {
			p.End, p.Ended = max(p.Start, last), "interrupted"
		}
		began = append(began, p)
	}
	r.Phases = began
	if r.Seconds == 0 {
		r.Seconds = last
	}
}
