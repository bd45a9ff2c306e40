package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// cgroupHome is where this process is in the hierarchies of cgroups.
type cgroupHome struct {
	v1        map[string]string // controller -> directory
	v2, v2Top string            // directories of this process and of the mount, which is above it; "" if version 2 is not mounted
	problem   string
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
				h.v2, h.v2Top = at(path), f[4]
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

// cgroupWrites says what the limits need, or a *Refusal with the reason why they cannot be had. What is limited in
// adjustable may be limited later: it gets its controllers now, and no limit.
func cgroupWrites(h cgroupHome, l, adjustable task.Limits) ([]cgroupWrite, error) {
	var v2 cgroupWrite
	var controllers []string
	var out []cgroupWrite
	add := func(controller string, two, one []cgroupFile) {
		memory := controller == "memory"
		if dir, ok := h.v1[controller]; ok {
			out = append(out, cgroupWrite{dir: dir, files: one, memory: memory})
			return
		}
		v2.files = append(v2.files, two...)
		v2.memory = v2.memory || memory
		controllers = append(controllers, controller)
	}
	if l.Memory > 0 && l.IgnoreSocketBuffers && h.v1["memory"] == "" {
		return nil, &Refusal{"limits: count-socket-buffers: false is not possible with cgroups of version 2, which always count them"}
	}
	if l.Memory > 0 || adjustable.Memory > 0 {
		add("memory", memoryFiles(2, l), memoryFiles(1, l))
	}
	if l.CPU > 0 || adjustable.CPU > 0 {
		add("cpu", cpuFiles(2, l), cpuFiles(1, l))
	}
	if l.Processes > 0 || adjustable.Processes > 0 {
		add("pids", pidsFiles(l), pidsFiles(l))
	}
	if len(controllers) > 0 {
		var err error
		if v2.dir, v2.enable, err = h.place(controllers); err != nil {
			return nil, &Refusal{"limits: " + strings.Join(controllers, " and ") + " cannot be limited: " + err.Error()}
		}
		out = append(out, v2)
	}
	return out, nil
}

// memoryFiles are what limits memory, in the order in which a lower limit is written; none without a limit.
func memoryFiles(version int, l task.Limits) []cgroupFile {
	if l.Memory == 0 {
		return nil
	}
	bytes := strconv.FormatInt(l.Memory, 10)
	if version == 2 {
		return []cgroupFile{{name: "memory.max", value: bytes}, {name: "memory.swap.max", value: "0", optional: true}}
	}
	files := []cgroupFile{{name: "memory.limit_in_bytes", value: bytes}, {name: "memory.memsw.limit_in_bytes", value: bytes, optional: true}}
	if !l.IgnoreSocketBuffers { // version 1 has a limit of its own for them
		files = append(files, cgroupFile{name: "memory.kmem.tcp.limit_in_bytes", value: bytes, optional: true})
	}
	return files
}

func cpuFiles(version int, l task.Limits) []cgroupFile {
	if l.CPU == 0 {
		return nil
	}
	const period = 100_000 // microseconds
	quota := strconv.Itoa(max(1000, int(l.CPU*period)))
	if version == 2 {
		return []cgroupFile{{name: "cpu.max", value: quota + " " + strconv.Itoa(period)}}
	}
	return []cgroupFile{{name: "cpu.cfs_period_us", value: strconv.Itoa(period)}, {name: "cpu.cfs_quota_us", value: quota}}
}

func pidsFiles(l task.Limits) []cgroupFile {
	if l.Processes == 0 {
		return nil
	}
	return []cgroupFile{{name: "pids.max", value: strconv.Itoa(l.Processes)}}
}
