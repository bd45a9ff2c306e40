package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// kindCgroup is the kind of the journal's entries about cgroups; the data lists their directories.
const kindCgroup = "cgroup"

// A cgroup holds the processes of a limit: one directory under version 2, one for each controller under version 1.
type cgroup struct {
	dirs   []string
	memory string // the directory that tells about kills for want of memory; "" without such a limit
	shared bool   // by processes of its group: it stays until the group is closed
	entry  task.Entry
	tell   func(kills int) // of more kills for want of memory; may be nil
	over   chan struct{}   // closed when it is to be removed: nobody looks for kills then

	mu      sync.Mutex
	kills   int // that a process's end was told with
	told    int // that tell was called for
	ending  bool
	last    Pressure // when it was to be removed
	removed bool
}

// limit makes the cgroup that the limits ask for, or gives the shared one; nil if they ask for none. A process whose limits
// are to change later has one without limits; where none can be made it does without, and the change will say so.
func (g *Group) limit(spec *task.ProcessSpec, id *identity) (*cgroup, error) {
	l, adjustable := spec.Limits, g.opts.Adjustable[spec.Name]
	limited := len(task.LimitsRequire(l.Memory, l.CPU, l.Processes)) > 0
	if !limited && adjustable == (task.Limits{}) {
		return nil, nil
	}
	if l.Group != "" {
		g.mu.Lock()
		defer g.mu.Unlock()
		if c := g.cgroups[l.Group]; c != nil {
			return c, nil
		}
		for _, a := range g.opts.Adjustable { // whichever of those that share it
			adjustable.Memory, adjustable.CPU, adjustable.Processes = max(adjustable.Memory, a.Memory), max(adjustable.CPU, a.CPU), max(adjustable.Processes, a.Processes)
		}
	}
	c, err := newCgroup(g.opts.Journal, "planrun-"+strings.ToLower(id.Start), l, adjustable)
	if refusal := (*Refusal)(nil); !limited && errors.As(err, &refusal) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if c.memory != "" && g.opts.OnOOM != nil {
		name := fmt.Sprintf("%s/%d", spec.Name, spec.Replica)
		if l.Group != "" {
			name = l.Group
		}
		c.tell = func(kills int) { g.opts.OnOOM(name, kills) }
		go c.watch()
	}
	if l.Group != "" {
		c.shared = true
		g.cgroups[l.Group] = c
	}
	return c, nil
}

func newCgroup(journal task.Journal, name string, l, adjustable task.Limits) (*cgroup, error) {
	writes, err := cgroupWrites(mountedCgroups(), l, adjustable)
	if err != nil {
		return nil, err
	}
	c := &cgroup{over: make(chan struct{})}
	for i := range writes {
		writes[i].dir = filepath.Join(writes[i].dir, name)
		c.dirs = append(c.dirs, writes[i].dir)
		if writes[i].memory {
			c.memory = writes[i].dir
		}
	}
	if c.entry, err = journal.Add(kindCgroup, c.dirs); err != nil {
		return nil, err
	}
	for _, w := range writes {
		if err = w.make(); err != nil {
			return nil, errors.Join(&Refusal{"limits: " + err.Error()}, c.remove())
		}
	}
	return c, nil
}

// make makes the directory and writes the limits.
func (w *cgroupWrite) make() error {
	if w.enable != "" {
		control := filepath.Join(filepath.Dir(w.dir), "cgroup.subtree_control")
		if err := os.WriteFile(control, []byte(w.enable), 0o644); err != nil {
			return fmt.Errorf("its cgroup cannot have the controllers %s: %w", w.enable, err)
		}
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("no right to make a cgroup here: %w", err)
	}
	for _, f := range w.files {
		if err := f.write(w.dir); err != nil {
			return err
		}
	}
	return nil
}

func (f cgroupFile) write(dir string) error {
	err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.value), 0o644)
	if err != nil && !(f.optional && errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("writing %s to the cgroup's %s: %w", f.value, f.name, err)
	}
	return nil
}

// files are where a process writes its id to be in the cgroup.
func (c *cgroup) files() []string {
	if c == nil {
		return nil
	}
	out := make([]string, len(c.dirs))
	for i, d := range c.dirs {
		out[i] = filepath.Join(d, "cgroup.procs")
	}
	return out
}

// release removes the cgroup of a single process.
func (c *cgroup) release() error {
	if c == nil || c.shared {
		return nil
	}
	return c.remove()
}

// remove removes it, also if it could not be before.
func (c *cgroup) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removed {
		return nil
	}
	c.tellKills()
	if !c.ending {
		c.ending, c.last = true, c.readPressure()
		close(c.over)
	}
	if err := removeCgroups(context.Background(), c.dirs); err != nil {
		return err
	}
	c.removed = true
	return c.entry.Done()
}

// removeCgroups removes directories of cgroups; zombies may keep one busy for a moment.
func removeCgroups(ctx context.Context, dirs []string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, d := range dirs {
		for {
			err := os.Remove(d)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if !errors.Is(err, syscall.EBUSY) {
				return fmt.Errorf("removing a cgroup: %w", err)
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("removing a cgroup: %w", err)
			}
		}
	}
	return nil
}

func undoCgroup(ctx context.Context, _ *task.UndoEnv, dirs []string) error {
	for _, d := range dirs {
		if !strings.HasPrefix(filepath.Base(d), "planrun-") {
			return fmt.Errorf("%s is no cgroup of planrun", d)
		}
	}
	return removeCgroups(ctx, dirs)
}
