package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// cgroupHome is where this process is in the hierarchies of cgroups.
type cgroupHome struct {
	v1      map[string]string // controller -> directory
	v2      string            // directory; "" if version 2 is not mounted
	v2Has   []string          // controllers that it offers to its children
	problem string
}

// A cgroupWrite makes one directory.
type cgroupWrite struct {
	dir    string // first its parent, then its own
	enable string // controllers for the parent's children: "+memory +cpu"
	files  []cgroupFile
	memory bool
}

type cgroupFile struct {
	name, value string
	optional    bool // not every kernel has it
}

// mountedCgroups reads /proc/self/mountinfo and /proc/self/cgroup (cgroups(7)).
func mountedCgroups() cgroupHome {
	home := cgroupHome{v1: map[string]string{}}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return cgroupHome{problem: err.Error()}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return cgroupHome{problem: err.Error()}
	}
	home.read(string(own), string(mounts))
	if home.v2 != "" {
		b, _ := os.ReadFile(filepath.Join(home.v2, "cgroup.controllers"))
		home.v2Has = strings.Fields(string(b))
	}
	return home
}

func (h *cgroupHome) read(own, mountinfo string) {
	paths := map[string]string{} // controllers, or "" for version 2 -> path in the hierarchy
	for line := range strings.Lines(own) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			for c := range strings.SplitSeq(f[1], ",") {
				paths[c] = f[2]
			}
		}
	}
	for line := range strings.Lines(mountinfo) {
		// id parent major:minor root mountpoint options... - type source superoptions
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 {
			continue
		}
		at := func(path string) string {
			if rel, err := filepath.Rel(f[3], path); err == nil && !strings.HasPrefix(rel, "..") {
				return filepath.Join(f[4], rel)
			}
			return f[4] // the hierarchy is mounted from below where we are: its top is all there is
		}
		switch g[0] {
		case "cgroup2":
			if path, ok := paths[""]; ok {
				h.v2 = at(path)
			}
		case "cgroup":
			for c := range strings.SplitSeq(g[2], ",") {
				if path, ok := paths[c]; ok {
					h.v1[c] = at(path)
				}
			}
		}
	}
}

// cgroupWrites says what the limits need, or a *Refusal with the reason why they cannot be had.
func cgroupWrites(h cgroupHome, l task.Limits) ([]cgroupWrite, error) {
	var v2 cgroupWrite
	var enable []string
	var out []cgroupWrite
	add := func(controller string, memory bool, two, one []cgroupFile) error {
		if dir, ok := h.v1[controller]; ok {
			out = append(out, cgroupWrite{dir: dir, files: one, memory: memory})
			return nil
		}
		if h.v2 == "" || !slices.Contains(h.v2Has, controller) {
			why := h.problem
			if why == "" {
				why = "the kernel offers no such cgroup controller here"
			}
			return &Refusal{fmt.Sprintf("limits: %s cannot be limited: %s", controller, why)}
		}
		v2.files = append(v2.files, two...)
		v2.memory = v2.memory || memory
		enable = append(enable, "+"+controller)
		return nil
	}
	if l.Memory > 0 {
		bytes := strconv.FormatInt(l.Memory, 10)
		_, one := h.v1["memory"]
		if l.IgnoreSocketBuffers && !one {
			return nil, &Refusal{"limits: count-socket-buffers: false is not possible with cgroups of version 2, which always count them"}
		}
		files := []cgroupFile{{name: "memory.limit_in_bytes", value: bytes}, {name: "memory.memsw.limit_in_bytes", value: bytes, optional: true}}
		if !l.IgnoreSocketBuffers { // version 1 has a limit of its own for them
			files = append(files, cgroupFile{name: "memory.kmem.tcp.limit_in_bytes", value: bytes, optional: true})
		}
		if err := add("memory", true, []cgroupFile{{name: "memory.max", value: bytes}, {name: "memory.swap.max", value: "0", optional: true}}, files); err != nil {
			return nil, err
		}
	}
	if l.CPU > 0 {
		const period = 100_000 // microseconds
		quota := strconv.Itoa(max(1000, int(l.CPU*period)))
		if err := add("cpu", false, []cgroupFile{{name: "cpu.max", value: quota + " " + strconv.Itoa(period)}},
			[]cgroupFile{{name: "cpu.cfs_period_us", value: strconv.Itoa(period)}, {name: "cpu.cfs_quota_us", value: quota}}); err != nil {
			return nil, err
		}
	}
	if l.Processes > 0 {
		n := []cgroupFile{{name: "pids.max", value: strconv.Itoa(l.Processes)}}
		if err := add("pids", false, n, n); err != nil {
			return nil, err
		}
	}
	if len(v2.files) > 0 {
		v2.dir, v2.enable = h.v2, strings.Join(enable, " ")
		out = append(out, v2)
	}
	return out, nil
}
