package record

import (
	"bytes"
	"fmt"
	"io"
)

// A Part says what to read of what was recorded of a run: each file that is not needed is not opened, and most of what
// is not wanted of one that is needed is not decoded.
type Part struct {
	// Points says which series of probes are wanted, by SeriesDesc.Name; nil wants none.
	Points func(name string) bool
	// Seconds are those of loads: their counts, and those of their histograms that Histograms names ("latency", "service",
	// "lag", "connect", "tls"): a second of each takes a hundred kilobytes in memory.
	Seconds    bool
	Histograms []string
	Events     bool
}

// Everything that was recorded.
var Everything = Part{Points: func(string) bool { return true }, Seconds: true, Histograms: whats, Events: true}

// Data reads a run with everything that was recorded of it. Seconds of a load are added up over its workers (Worker is
// AllWorkers) and sorted by load and time; points and events are in the order of their times.
func (s *Set) Data(id string) (*Data, error) {
	run := s.Kept(id)
	d, err := s.Recorded(run, Everything)
	if err == nil && run.Status == Unfinished {
		closePhases(d)
	}
	return d, err
}

// Recorded reads a part of what was recorded of a run, in the order of Data. Of a run that never began, or was published, there is
// nothing. Where a file cannot be read the error says which, and what the others hold is there all the same.
func (s *Set) Recorded(run *Run, p Part) (*Data, error) {
	d := &Data{Run: run}
	if run.Status == Unsupported || run.Status == Skipped || run.Published != nil {
		return d, nil
	}
	if err := d.read(func(name string) (io.ReadCloser, error) { return openFile(s.Path("runs", run.ID, name)) }, p); err != nil {
		return d, fmt.Errorf("run %s: %w", run.ID, err)
	}
	return d, nil
}

// wants reports whether a line of series.jsonl may hold something of the part. It looks at the line's begin as it is
// written; any other line is decoded to be sure.
func (p *Part) wants(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte(`{"load":`)):
		return p.Seconds
	case !bytes.HasPrefix(line, []byte(`{"t":`)):
		return true
	case p.Points == nil:
		return false
	}
	_, rest, ok := bytes.Cut(line, []byte(`,"s":"`))
	if !ok {
		return true
	}
	name, _, ok := bytes.Cut(rest, []byte(`"`))
	return !ok || bytes.IndexByte(name, '\\') >= 0 || p.Points(string(name))
}
