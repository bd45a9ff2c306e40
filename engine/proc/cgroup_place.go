package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// place finds where a cgroup of version 2 with these controllers can be made: below the nearest cgroup from this process's
// own upwards that can give them to its children. It must hold no processes itself (only the root may), so where this
// process was started by a login or a service it is one further up. enable is what its children do not have yet.
func (h *cgroupHome) place(controllers []string) (dir, enable string, err error) {
	if h.problem != "" {
		return "", "", errors.New(h.problem)
	}
	if h.v2 == "" {
		return "", "", errors.New("the kernel offers no such cgroup controller here")
	}
	for dir = h.v2; ; dir = filepath.Dir(dir) {
		enable, why := gives(dir, controllers)
		if why == nil {
			return dir, enable, nil
		}
		if err == nil { // the nearest one's reason says most
			err = why
		}
		if dir == h.v2Top || len(dir) <= len(h.v2Top) {
			return "", "", err
		}
	}
}

// gives says what is to be enabled so that children of a cgroup have the controllers; an error says why they cannot.
func gives(dir string, controllers []string) (enable string, err error) {
	read := func(name string) []string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.Fields(string(b))
	}
	has, on := read("cgroup.controllers"), read("cgroup.subtree_control")
	var missing []string
	for _, c := range controllers {
		if !slices.Contains(has, c) {
			return "", fmt.Errorf("version 2 is mounted, but %s has no controller %s (it has: %s)", dir, c, strings.Join(has, " "))
		}
		if !slices.Contains(on, c) {
			missing = append(missing, "+"+c)
		}
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return "", fmt.Errorf("no right to make cgroups in %s: %w", dir, err)
	}
	if err := unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK); err != nil {
		return "", fmt.Errorf("no right to move processes below %s: %w", dir, err)
	}
	if len(missing) == 0 {
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.type")); err == nil && len(read("cgroup.procs")) > 0 {
		return "", fmt.Errorf("%s holds processes itself, so those below it can have no controllers", dir)
	}
	if err := unix.Access(filepath.Join(dir, "cgroup.subtree_control"), unix.W_OK); err != nil {
		return "", fmt.Errorf("no right to give controllers to cgroups below %s: %w", dir, err)
	}
	return strings.Join(missing, " "), nil
}

// CanLimit tells where a controller (memory, cpu, pids) can limit processes of this one: version 1 or 2, and the cgroup below
// which theirs is made. The error says in words why it cannot.
func CanLimit(controller string) (version int, dir string, err error) {
	h := mountedCgroups()
	if dir, ok := h.v1[controller]; ok {
		for _, f := range []string{dir, filepath.Join(dir, "cgroup.procs")} {
			if err := unix.Access(f, unix.W_OK); err != nil {
				return 0, "", fmt.Errorf("version 1, but no right to make cgroups in %s: %w", dir, err)
			}
		}
		return 1, dir, nil
	}
	dir, _, err = h.place([]string{controller})
	return 2, dir, err
}
