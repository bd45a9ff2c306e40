package proc

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/proc/kernel"
)

// Environment variables of everything that is started, which its descendants inherit.
const (
	EnvToken = "PLANRUN_TOKEN" // of the result set
	EnvStart = "PLANRUN_START" // of one start of one process
)

// An identity is what is known of a started process: enough for another process to find its tree, and only its tree. It
// is written to the journal before the process is started, without PID and Begun, and once more with them.
type identity struct {
	Name    string `json:"name"`
	Replica int    `json:"replica"`
	Token   string `json:"token"`
	Start   string `json:"start"`           // value of EnvStart
	Boot    string `json:"boot"`            //
	Log     string `json:"log,omitempty"`   // absolute path; standard output or error of the process
	PID     int    `json:"pid,omitempty"`   //
	Begun   uint64 `json:"begun,omitempty"` // its start time, in clock ticks since boot
	Stop    string `json:"stop,omitempty"`  // signal that ends it
	GraceMs int64  `json:"grace_ms"`        //
}

// owns says what the environment of a process tells about whose it is.
type owns int

const (
	unknown owns = iota // it cannot be read, or was overwritten by the process itself
	ours
	foreign
)

func (id *identity) environment(pid int) owns {
	env := kernel.Environ(pid)
	token, start, sane := false, false, false
	for _, e := range env {
		name, value, found := strings.Cut(e, "=")
		if !found || !isName(name) {
			continue
		}
		sane = true
		switch {
		case name == EnvToken && value == id.Token:
			token = true
		case name == EnvStart && value == id.Start:
			start = true
		}
	}
	switch {
	case token && start:
		return ours
	case sane:
		return foreign
	}
	return unknown
}

func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// tree returns the living processes of the tree. It has those that carry the token and the start id in their environment,
// and those that lost it but that the kernel shows to belong:
//
//   - the process itself: same id and start time, its environment overwritten by itself, or its output still in its log;
//   - members of its session or process group, while the process itself is there, or if their output is still in its log
//     and they are no older than it;
//   - what was seen in the tree before;
//   - descendants of all these.
//
// A process of the same id with another start time, or of another boot, is somebody else's.
func (id *identity) tree(seen map[int]uint64) ([]kernel.Stat, error) {
	if id.Boot != kernel.BootID() {
		return nil, nil
	}
	all, err := kernel.List()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s kernel.Stat) bool { return s.PID <= 1 || s.PID == selfPID || s.Start < id.Begun })
	in := map[int]bool{}
	leader := false
	for _, s := range all {
		if id.isSelf(s) {
			leader = true
		}
	}
	for _, s := range all {
		if begun, ok := seen[s.PID]; ok && begun == s.Start || id.has(s, leader) {
			in[s.PID] = true
		}
	}
	for grew := len(in) > 0; grew; {
		grew = false
		for _, s := range all {
			if !in[s.PID] && in[s.PPID] {
				in[s.PID], grew = true, true
			}
		}
	}
	var out []kernel.Stat
	for _, s := range all {
		if in[s.PID] {
			if seen != nil {
				seen[s.PID] = s.Start
			}
			if !s.Dead() {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func (id *identity) isSelf(s kernel.Stat) bool {
	return id.PID != 0 && s.PID == id.PID && s.Start == id.Begun
}

// has reports whether a process belongs to the tree by itself; leader says that the process itself is there (or its
// zombie, which keeps its id from being used again).
func (id *identity) has(s kernel.Stat, leader bool) bool {
	env := id.environment(s.PID)
	if env == ours {
		return true
	}
	logs := id.Log != "" && kernel.HoldsFile(s.PID, id.Log)
	if id.isSelf(s) {
		return s.Dead() || env == unknown || logs
	}
	if id.PID != 0 && (s.Session == id.PID || s.Group == id.PID) && s.PID != id.PID {
		return leader || logs && s.Start >= id.Begun
	}
	return logs && env == unknown
}
