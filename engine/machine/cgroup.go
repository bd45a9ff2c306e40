package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

func limitMemory() Offer { return controller("memory limits", "memory") }

func limitCPU() Offer { return controller("CPU limits", "cpu") }

// controller says whether cgroups with a limit can be made below the one of this process. Version 1 and version 2 of a
// controller exclude each other.
func controller(feature, name string) Offer {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return no(feature, "%v", err)
	}
	self, err := fs.Self()
	if err != nil {
		return no(feature, "%v", err)
	}
	groups, err := self.Cgroups()
	if err != nil {
		return no(feature, "the kernel has no cgroups: %v", err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return no(feature, "finding where cgroups are mounted: %v", err)
	}
	for _, g := range groups {
		if slices.Contains(g.Controllers, name) {
			dir, ok := mounted(mounts, "cgroup", name, g.Path)
			if !ok {
				return no(feature, "the controller %s (version 1) is not mounted", name)
			}
			return writable(feature, "version 1", dir)
		}
	}
	for _, g := range groups {
		if g.HierarchyID != 0 {
			continue
		}
		dir, ok := mounted(mounts, "cgroup2", "", g.Path)
		if !ok {
			break
		}
		has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		if err != nil {
			return no(feature, "reading which controllers there are: %v", err)
		}
		if !slices.Contains(strings.Fields(string(has)), name) {
			return no(feature, "version 2 is mounted, but offers %s no controller %s (it has: %s)", dir, name, strings.TrimSpace(string(has)))
		}
		return writable(feature, "version 2", dir)
	}
	return no(feature, "no cgroup controller %s is mounted", name)
}

// mounted is the directory of a cgroup; mounts of version 1 carry the names of their controllers.
func mounted(mounts []*procfs.MountInfo, fstype, controller, path string) (string, bool) {
	for _, m := range mounts {
		if m.FSType != fstype {
			continue
		}
		if _, ok := m.SuperOptions[controller]; controller != "" && !ok {
			continue
		}
		rel, err := filepath.Rel(m.Root, path)
		if err != nil || strings.HasPrefix(rel, "..") {
			return m.MountPoint, true // mounted from below where this process is
		}
		return filepath.Join(m.MountPoint, rel), true
	}
	return "", false
}

// writable looks at the rights of a cgroup without making one.
func writable(feature, version, dir string) Offer {
	if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
		return no(feature, "%s: %v", version, err)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return no(feature, "%s, but no right to make cgroups in %s: %v", version, dir, err)
	}
	return yes(feature, "%s, in %s", version, dir)
}
