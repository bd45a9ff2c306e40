package record

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// A RunWriter writes one run. Its methods may be called by any goroutine, and none of them waits for the disk but
// Event, Checkpoint and Finish: samples are collected and written once a second.
//
// A disk that is full does not end the run: what could not be written is counted in Facts.Lost, said once, and the run
// goes on. What comes after Finish belongs to no run and is not written.
type RunWriter struct {
	ID  string
	Dir string

	report func(error)
	stop   chan struct{}
	done   chan struct{}

	mu       sync.Mutex
	start    time.Time
	loads    map[string]float64 // load -> start
	pending  map[secondKey]*load.Second
	series   appender
	events   appender
	hlog     appender
	lost     int
	reported bool
	closed   bool
}

// WriterOptions of a run; the zero value works.
type WriterOptions struct {
	Report func(error)   // told once, in a goroutine of its own, if something cannot be written; nil means slog's default logger
	Every  time.Duration // between flushes; 0 means a second
	create func(path string) (io.WriteCloser, error)
}

// StartRun makes the directory of a run (run.ID is set) and writes its first run.json, which says that the run is
// unfinished: it stays like this if the engine dies.
func (s *Set) StartRun(run *Run, o WriterOptions) (*RunWriter, error) {
	id, err := s.number("runs", RunName(run.Coord))
	if err != nil {
		return nil, err
	}
	run.ID, run.Version = id, Version
	if o.Report == nil {
		o.Report = func(err error) { slog.Error(err.Error()) }
	}
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.create == nil {
		o.create = func(path string) (io.WriteCloser, error) {
			return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
		}
	}
	w := &RunWriter{
		ID: id, Dir: s.Path("runs", id), report: o.Report,
		stop: make(chan struct{}), done: make(chan struct{}),
		start: run.Start, loads: map[string]float64{}, pending: map[secondKey]*load.Second{},
	}
	for _, f := range []struct {
		a    *appender
		name string
	}{{&w.series, "series.jsonl"}, {&w.events, "events.jsonl"}, {&w.hlog, "latency.hlog"}} {
		if f.a.f, err = o.create(filepath.Join(w.Dir, f.name)); err != nil {
			return nil, errors.Join(fmt.Errorf("creating %s of the run: %w", f.name, err), w.closeFiles())
		}
	}
	w.hlog.line(hlogHead(run.Start))
	if err := w.Checkpoint(run); err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	go w.flusher(o.Every)
	return w, nil
}

// WriteRun writes a run that never began: unsupported, skipped, or its target could not be installed.
func (s *Set) WriteRun(run *Run) error {
	id, err := s.number("runs", RunName(run.Coord))
	if err != nil {
		return err
	}
	run.ID, run.Version = id, Version
	return replaceJSON(s.Path("runs", id, "run.json"), finiteRun(run))
}

// Rederived writes a finished run again, with metrics and guards that were derived anew: these are what its file has now.
func (s *Set) Rederived(run *Run) error {
	if run.ID == "" || run.ID != filepath.Base(run.ID) {
		return fmt.Errorf("writing a run: %q is no id of a run", run.ID)
	}
	text, err := indented(s.Path("runs", run.ID, "run.json"), finiteRun(run))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	run.sum = sum[:]
	return replace(s.Path("runs", run.ID, "run.json"), text)
}

func (w *RunWriter) flusher(every time.Duration) {
	defer close(w.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-t.C:
			w.mu.Lock()
			w.flush()
			w.mu.Unlock()
		}
	}
}

// Points writes readings of probes. Undefined ones are left out.
func (w *RunWriter) Points(ps ...series.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for _, p := range ps {
		if finite(p.V) && finite(p.T) {
			w.add(&w.series, p)
		}
	}
}

// Seconds writes what load workers reported. Parts of a second that come within one flush are added up; the caller keeps
// its histograms.
func (w *RunWriter) Seconds(ss ...load.Second) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for i := range ss {
		s := &ss[i]
		k := secondKey{s.Load, s.Phase, s.Second}
		sum := w.pending[k]
		if sum == nil {
			sum = &load.Second{Load: s.Load, Worker: AllWorkers, Phase: s.Phase, Second: s.Second}
			w.pending[k] = sum
		}
		if err := addSecond(sum, s); err != nil {
			w.lose(1, err)
		}
	}
}

// Event writes an event at once.
func (w *RunWriter) Event(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	e.Fields = finiteMap(e.Fields)
	w.add(&w.events, e)
	w.lose(w.events.flush())
}

// Checkpoint writes what is known of the run so far, as an unfinished one: call it when a phase begins or ends and when a
// load starts, so that a run whose engine died can still be read.
func (w *RunWriter) Checkpoint(run *Run) error {
	c := finiteRun(run)
	c.Status, c.Reason, c.Metrics, c.Missing = Unfinished, "planrun ended before the run did", nil, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range run.Loads {
		w.loads[l.Name] = l.Start
	}
	return w.write(c)
}

// Flush writes what was collected now. The run's files then hold everything that was given to the writer.
func (w *RunWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

// Lost is how much could not be written so far.
func (w *RunWriter) Lost() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Finish flushes, sets Facts.Lost and Files, writes the final run.json and closes the files. Only the first call does anything.
func (w *RunWriter) Finish(run *Run) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	err := w.closeFiles()
	run.Facts.Lost, run.Files = w.lost, lengths(w.Dir)
	return errors.Join(err, w.write(finiteRun(run)))
}

func (w *RunWriter) write(run *Run) error {
	return replaceJSON(filepath.Join(w.Dir, "run.json"), run)
}

func (w *RunWriter) closeFiles() error {
	var errs []error
	for _, a := range []*appender{&w.series, &w.events, &w.hlog} {
		if a.f != nil {
			errs = append(errs, a.f.Close())
		}
	}
	return errors.Join(errs...)
}

// add collects v as a line; what cannot be encoded is lost.
func (w *RunWriter) add(a *appender, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		w.lose(1, err)
		return
	}
	a.line(b)
}

func (w *RunWriter) lose(n int, err error) {
	w.lost += n
	if err != nil && !w.reported {
		w.reported = true
		// The caller may hold a lock that report wants.
		go w.report(fmt.Errorf("part of the recording of run %s could not be written, the run goes on: %w", w.ID, err))
	}
}

// flush writes what was collected.
func (w *RunWriter) flush() {
	keys := make([]secondKey, 0, len(w.pending))
	for k := range w.pending {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b secondKey) int {
		if d := a.second - b.second; d != 0 {
			return d
		}
		return strings.Compare(a.load+"\x00"+a.phase, b.load+"\x00"+b.phase)
	})
	for _, k := range keys {
		w.second(w.pending[k])
	}
	clear(w.pending)
	w.lose(w.series.flush())
	w.lose(w.hlog.flush())
	w.lose(w.events.flush())
}
