package engine

import (
	"slices"
	"sync"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// mostKept bounds what a shelf keeps, in samples and events.
const mostKept = 2 << 20

// A shelf reads samples of stored runs when they are asked for. It keeps those of the last runs, because several verdicts
// ask for the same ones; its memory does not grow with the number of runs.
type shelf struct {
	set    *record.Set
	unread *unread
	series []string // that will be asked for: they are read together. Others are read each time

	mu    sync.Mutex
	books []*book // the oldest first
	kept  int
}

// A book is what a shelf has of one run. It is filled by the first who asks; others wait for it.
type book struct {
	run  *record.Run
	size int // guarded by the shelf

	mu     sync.Mutex
	series map[string]*verdict.Series
	events map[string][]verdict.Event
}

// of gives the samples of a run.
func (s *shelf) of(r *record.Run) verdict.Samples { return onShelf{s, r} }

type onShelf struct {
	shelf *shelf
	run   *record.Run
}

func (o onShelf) Series(name string) (*verdict.Series, error) {
	if !slices.Contains(o.shelf.series, name) {
		all, _, err := o.shelf.read(o.run, []string{name})
		return all[name], err
	}
	b := o.shelf.book(o.run)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.series == nil {
		all, n, err := o.shelf.read(o.run, o.shelf.series)
		if err != nil {
			return nil, err
		}
		b.series = all
		o.shelf.grew(b, n)
	}
	return b.series[name], nil
}

func (o onShelf) Events(kind string) ([]verdict.Event, bool, error) {
	b := o.shelf.book(o.run)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events == nil {
		d, err := o.shelf.unread.recorded(o.shelf.set, o.run, record.Part{Events: true})
		if err != nil {
			return nil, false, err
		}
		b.events = eventsOf(d)
		o.shelf.grew(b, len(d.Events))
	}
	list, watched := b.events[kind]
	return list, watched, nil
}

// read reads series of a run, and says how many samples they have.
func (s *shelf) read(r *record.Run, names []string) (out map[string]*verdict.Series, n int, err error) {
	d, err := s.unread.recorded(s.set, r, measure.Wanted(names))
	if err != nil {
		return nil, 0, err
	}
	out = map[string]*verdict.Series{}
	all := measure.All(d)
	for _, name := range names {
		if x, ok := all[name]; ok {
			out[name] = &verdict.Series{Name: name, T: x.T, V: x.V}
			n += len(x.T)
		}
	}
	return out, n, nil
}

// book finds or makes the book of a run.
func (s *shelf) book(r *record.Run) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.books {
		if b.run == r {
			return b
		}
	}
	b := &book{run: r}
	s.books = append(s.books, b)
	return b
}

// least is what a book counts for at least, so that there are never many.
const least = mostKept / 128

// grew makes room for what a book has come to hold.
func (s *shelf) grew(b *book, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.books, b) {
		return // it was put away while it was read
	}
	n = max(n, least)
	b.size, s.kept = b.size+n, s.kept+n
	for s.kept > mostKept && len(s.books) > 1 && s.books[0] != b {
		s.kept -= s.books[0].size
		s.books = slices.Delete(s.books, 0, 1)
	}
}

// atHand are the samples of a run whose data is in memory.
type atHand struct {
	data   *record.Data
	series func() map[string]measure.Series
}

// samplesOf are those of a run that goes on or has just been read. What is not asked for is not computed.
func samplesOf(d *record.Data) verdict.Samples {
	return atHand{d, sync.OnceValue(func() map[string]measure.Series { return measure.All(d) })}
}

func (a atHand) Series(name string) (*verdict.Series, error) {
	if s, ok := a.series()[name]; ok {
		return &verdict.Series{Name: name, T: s.T, V: s.V}, nil
	}
	return nil, nil
}

func (a atHand) Events(kind string) ([]verdict.Event, bool, error) {
	list, watched := eventsOf(a.data)[kind]
	return list, watched, nil
}
