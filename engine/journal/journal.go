package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// Options of a journal. The zero value is right except for Token.
type Options struct {
	Token string // of the result set
	// Boundary is called before an entry is written and after it was synced, from the goroutine that adds it and with no
	// lock held that another entry needs. Tests end the engine in it.
	Boundary func(after bool, e Line)
}

// A Journal is an open journal. Its methods may be called from any goroutine.
type Journal struct {
	opts Options

	mu      sync.Mutex
	f       *os.File
	seq     int
	scopes  int
	pending map[int]Line
}

// Open creates the journal of a result set, or goes on with the one that is there, locks it, and writes its owner. The
// lock is held until Close or the end of this process; an *OwnedError says that another one holds it.
func Open(dir string, opts Options) (*Journal, error) {
	j, log, err := open(dir, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	j.opts = opts
	if len(log.Damaged) > 0 {
		j.Close()
		return nil, fmt.Errorf("going on with a journal: %w", log.Damaged[0])
	}
	_, err = j.add(KindOwner, 0, self(opts.Token))
	if err == nil && log.last == 0 {
		err = syncDir(dir)
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// open opens, locks and reads; a torn last line is cut off, so that what is written next is a line of its own.
func open(dir string, flag int) (*Journal, *Log, error) {
	path := filepath.Join(dir, File)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flag, 0o600) // it may hold what secrets restore
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w", err)
	}
	fail := func(err error) (*Journal, *Log, error) {
		f.Close()
		return nil, nil, err
	}
	if err := lock(f, dir); err != nil {
		return fail(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return fail(fmt.Errorf("reading the journal: %w", err))
	}
	log := parse(b)
	if log.Owner.lives() {
		return fail(&OwnedError{dir, log.Owner.PID})
	}
	if log.whole < int64(len(b)) {
		if err := f.Truncate(log.whole); err != nil {
			return fail(fmt.Errorf("cutting the journal's torn last line off: %w", err))
		}
	}
	j := &Journal{f: f, seq: log.last, pending: map[int]Line{}}
	for _, e := range log.Pending() {
		j.pending[e.Seq] = e
		j.scopes = max(j.scopes, e.Scope)
	}
	return j, log, nil
}

// lock locks the journal for as long as the file is open. A process that a killed engine had just forked, and that is not
// its program yet, still shares the lock: so it is waited for, if the owner is dead, which also means that all that the
// engine started can be recognised once the lock is had.
func lock(f *os.File, dir string) error {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("locking the journal: %w", err)
		}
		e := &OwnedError{Dir: dir}
		if log, err := Read(dir); err == nil {
			e.PID = log.Owner.PID
			if !log.Owner.lives() && log.Owner.PID != os.Getpid() && time.Now().Before(deadline) {
				continue
			}
		}
		return e
	}
}

// Close gives the lock up.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return nil
}

// Add writes an entry of no scope and syncs it.
func (j *Journal) Add(kind string, data any) (task.Entry, error) { return j.addEntry(kind, 0, data) }

// A Scope takes entries that are undone together.
type Scope struct {
	j  *Journal
	id int
}

// Scope begins a scope.
func (j *Journal) Scope() *Scope {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.scopes++
	return &Scope{j, j.scopes}
}

// Add writes an entry of the scope and syncs it.
func (s *Scope) Add(kind string, data any) (task.Entry, error) { return s.j.addEntry(kind, s.id, data) }

func (j *Journal) addEntry(kind string, scope int, data any) (task.Entry, error) {
	e, err := j.add(kind, scope, data)
	if err != nil {
		return nil, err
	}
	return &entry{j, e.Seq}, nil
}

type entry struct {
	j   *Journal
	seq int
}

// Done marks the entry as undone; marking it twice writes nothing.
func (e *entry) Done() error { return e.j.done(e.seq) }

func (j *Journal) add(kind string, scope int, data any) (Line, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return Line{}, fmt.Errorf("writing a %s entry to the journal: %w", kind, err)
	}
	j.mu.Lock()
	j.seq++
	e := Line{Seq: j.seq, Kind: kind, Scope: scope, Data: b, T: time.Now().UTC()}
	j.mu.Unlock()
	if j.opts.Boundary != nil {
		j.opts.Boundary(false, e)
	}
	j.mu.Lock()
	err = j.write(e)
	if err == nil && kind != KindOwner {
		j.pending[e.Seq] = e
	}
	j.mu.Unlock()
	if err == nil && j.opts.Boundary != nil {
		j.opts.Boundary(true, e)
	}
	return e, err
}

func (j *Journal) done(seq int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.pending[seq]; !ok {
		return nil
	}
	if err := j.write(Line{Seq: seq, Done: true, T: time.Now().UTC()}); err != nil {
		return err
	}
	delete(j.pending, seq)
	return nil
}

// write appends a line with one call, and syncs. What a failed write left of its line is cut off again.
func (j *Journal) write(e Line) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing to the journal: %w", err)
	}
	at, err := j.f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("writing to the journal: %w", err)
	}
	if _, err = j.f.Write(append(b, '\n')); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("writing to the journal: %w", errors.Join(err, j.f.Truncate(at)))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing the journal's directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing the journal's directory: %w", err)
	}
	return nil
}

// Discard is a journal that keeps nothing, for what runs in order to undo something.
var Discard task.Journal = discard{}

type discard struct{}

func (discard) Add(string, any) (task.Entry, error) { return discard{}, nil }
func (discard) Done() error                         { return nil }
