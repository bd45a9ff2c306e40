package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// kindLimit is the kind of the journal's entries about changed limits; the data is what the files held, in the order in which
// they were written.
const kindLimit = "limit"

// A written is a file of a cgroup with what it holds, or held.
type written struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// A Changed is a limit that was changed while its process runs.
type Changed struct {
	c      *cgroup
	limits task.Limits
	before []written
	begun  Pressure
	entry  task.Entry
}

// Limit changes limits of the cgroup of a process; those that are 0 stay. It is journalled before. A *Refusal says why it
// cannot be: the process has no cgroup of its own for that, or holds more memory already than version 1 takes away.
func (p *Process) Limit(journal task.Journal, l task.Limits) (*Changed, error) {
	if p.cgroup == nil {
		why := "it has no cgroup of its own"
		for _, controller := range controllersOf(l) {
			if _, _, err := CanLimit(controller); err != nil {
				why = fmt.Sprintf("%s cannot be limited: %v", controller, err)
			}
		}
		return nil, &Refusal{fmt.Sprintf("limits of %s: %s", p, why)}
	}
	l.IgnoreSocketBuffers = p.spec.Limits.IgnoreSocketBuffers
	var change []written
	files := map[string][]cgroupFile{"memory": slices.Concat(memoryFiles(1, l), memoryFiles(2, l)), "cpu": slices.Concat(cpuFiles(1, l), cpuFiles(2, l)), "pids": pidsFiles(l)}
	for _, controller := range controllersOf(l) {
		n := len(change)
		for _, f := range files[controller] {
			for _, d := range p.cgroup.dirs {
				path := filepath.Join(d, f.name)
				if _, err := os.Stat(path); err == nil {
					change = append(change, written{path, f.value})
				}
			}
		}
		if len(change) == n {
			return nil, &Refusal{fmt.Sprintf("limits of %s: its cgroup has no controller %s", p, controller)}
		}
	}
	out := &Changed{c: p.cgroup, limits: l, begun: p.cgroup.pressure()}
	for _, w := range change {
		b, err := os.ReadFile(w.Path)
		if err != nil {
			return nil, fmt.Errorf("reading a limit of %s: %w", p, err)
		}
		out.before = append(out.before, written{w.Path, strings.TrimSpace(string(b))})
	}
	var err error
	if out.entry, err = journal.Add(kindLimit, out.before); err != nil {
		return nil, err
	}
	if err := writeWithPatience(change); err != nil {
		err = fmt.Errorf("limits of %s: %w", p, err)
		if errors.Is(err, syscall.EBUSY) {
			err = &Refusal{fmt.Sprintf("limits of %s: it holds more memory already, and the kernel could not take so much of it away in %v", p, patience)}
		}
		return nil, errors.Join(err, out.restore())
	}
	return out, nil
}

// patience is how long a limit is tried again while the kernel says that its processes hold more than it can take from them:
// those that come and go give some of it back.
const patience = 2 * time.Second

func writeWithPatience(change []written) error {
	for begin := time.Now(); ; time.Sleep(patience / 40) {
		err := writeLimits(change)
		if !errors.Is(err, syscall.EBUSY) || time.Since(begin) >= patience {
			return err
		}
	}
}

// controllersOf names the controllers that limits need.
func controllersOf(l task.Limits) (out []string) {
	if l.Memory > 0 {
		out = append(out, "memory")
	}
	if l.CPU > 0 {
		out = append(out, "cpu")
	}
	if l.Processes > 0 {
		out = append(out, "pids")
	}
	return out
}

// Restore sets the limits to what they were, and tells how often the new ones were reached: until now, or until the process was
// stopped and its cgroup went with it.
func (c *Changed) Restore() (Pressure, error) {
	seen := c.c.pressure().Since(c.begun).of(c.limits)
	return seen, c.restore()
}

func (c *Changed) restore() error {
	if err := writeLimits(c.before); err != nil {
		return fmt.Errorf("restoring limits: %w", err)
	}
	return c.entry.Done()
}

// writeLimits writes them in their order, which is that of lowering limits. Where the kernel does not take this, as of memory
// that may not be more than memory with swap, it is the other way round. What went with its process is no error.
func writeLimits(all []written) error {
	write := func(w written) error {
		err := os.WriteFile(w.Path, []byte(w.Value), 0o644)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var invalid bool
	for _, w := range all {
		if err := write(w); errors.Is(err, syscall.EINVAL) {
			invalid = true
		} else if err != nil {
			return err
		}
	}
	if !invalid {
		return nil
	}
	for _, w := range slices.Backward(all) {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// changed names the files that hold again what they held.
func changed(all []written) string {
	var files []string
	for _, w := range all {
		files = append(files, w.Path)
	}
	return strings.Join(files, ", ")
}

func undoLimit(_ context.Context, _ *task.UndoEnv, all []written) error {
	for _, w := range all {
		if !strings.HasPrefix(filepath.Base(filepath.Dir(w.Path)), "planrun-") {
			return fmt.Errorf("%s is of no cgroup of planrun", w.Path)
		}
	}
	return writeLimits(all)
}
