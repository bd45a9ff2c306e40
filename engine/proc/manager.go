package proc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

// Options of a Manager.
type Options struct {
	Token  string                // of the result set; all that is started carries it
	Worker []string              // the command of a builtin, before its kind; nil: this executable and "worker"
	Log    *slog.Logger          // nil: none
	Redact func(s string) string // secrets out of the command lines that are kept; nil: nothing is secret
}

// A Manager starts processes for an engine.
type Manager struct {
	opts Options

	mu   sync.Mutex
	live map[string]*Process // by start id: those whose undo is pending
}

// New makes this process the one that inherits its descendants' orphans, so that daemons stay in sight.
func New(opts Options) (*Manager, error) {
	if opts.Token == "" {
		return nil, fmt.Errorf("a manager of processes needs the token of its result set")
	}
	if opts.Worker == nil {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding the executable of builtins: %w", err)
		}
		opts.Worker = []string{exe, "worker"}
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	children.start()
	return &Manager{opts: opts, live: map[string]*Process{}}, nil
}

// kindProcess is the kind of the journal's entries about processes.
const kindProcess = "process"

// Undos undo what this package journals, in any process, from the entries alone.
func Undos() []task.Undo {
	return undosBy(undoProcess)
}

// Undos are those of the package, but in the engine that started the processes: a process that is still watched is
// stopped as Stop does, so that its end is no surprise to it.
func (m *Manager) Undos() []task.Undo {
	return undosBy(func(ctx context.Context, env *task.UndoEnv, id identity) error {
		m.mu.Lock()
		p := m.live[id.Start]
		m.mu.Unlock()
		if p != nil {
			return p.stop(ctx)
		}
		return undoProcess(ctx, env, id)
	})
}

// undosBy are the undos with the one that ends a process.
func undosBy(end func(context.Context, *task.UndoEnv, identity) error) []task.Undo {
	return []task.Undo{
		task.UndoOf(kindProcess, end, identity.says),
		task.UndoOf(kindCgroup, undoCgroup, func(dirs []string) string { return strings.Join(dirs, ", ") }),
		task.UndoOf(kindLimit, undoLimit, changed),
	}
}

// says which process it is. Of the two entries of a process only the one that knows its process id speaks.
func (id identity) says() string {
	if id.PID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d (id %d)", id.Name, id.Replica, id.PID)
}

func undoProcess(ctx context.Context, env *task.UndoEnv, id identity) error {
	if id.Token == "" || id.Start == "" || id.Token != env.Token {
		return fmt.Errorf("the entry of process %s is of another result set", id.Name)
	}
	if id.Boot != kernel.BootID() {
		return nil // the machine was started again since
	}
	return id.end(ctx, map[int]uint64{})
}
