// Package kernel reads from /proc what the kernel says about processes: what identifies them, who descends from whom, and
// on which CPUs they may run. A process that ends meanwhile is no error; it is just not there any more.
package kernel

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// A Stat identifies a process at one moment.
type Stat struct {
	PID, PPID, Group, Session int
	State                     byte   // as in /proc/PID/stat: R, S, D, T, Z, ...
	Start                     uint64 // clock ticks since boot: with the process id and the boot it names a process for ever
}

// Dead reports whether the process has ended and only waits for its parent to notice.
func (s Stat) Dead() bool { return s.State == 'Z' || s.State == 'X' }

// BootID is the id of this boot of the machine; "" if the kernel does not tell.
var BootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})

// Read returns what a process is; ok is false if there is none of that id.
func Read(pid int) (s Stat, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, false
	}
	return parseStat(b)
}

// parseStat reads a line of /proc/PID/stat (proc_pid_stat(5)). The name in parentheses may hold anything, so the fields
// are counted from the last parenthesis.
func parseStat(b []byte) (s Stat, ok bool) {
	pid, _, found := bytes.Cut(b, []byte(" "))
	end := bytes.LastIndexByte(b, ')')
	if !found || end < 0 {
		return Stat{}, false
	}
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return Stat{}, false
	}
	ok = true
	num := func(b []byte) int {
		n, err := strconv.Atoi(string(b))
		ok = ok && err == nil
		return n
	}
	s = Stat{PID: num(pid), State: f[0][0], PPID: num(f[1]), Group: num(f[2]), Session: num(f[3])}
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	s.Start = start
	return s, ok && err == nil
}

// StartTime returns when a process began, in clock ticks since boot; 0 if there is none of that id, or a dead one.
func StartTime(pid int) uint64 {
	s, ok := Read(pid)
	if !ok || s.Dead() {
		return 0
	}
	return s.Start
}

// List returns every process.
func List() ([]Stat, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []Stat
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, ok := Read(pid); ok {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// Environ returns the environment with which a process was started, as NAME=VALUE; nil if it cannot be read. A process
// may overwrite that memory (nginx writes its title there).
func Environ(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 })
}

// HoldsFile reports whether standard output or error of a process is the file of that absolute path.
func HoldsFile(pid int, path string) bool {
	for _, fd := range []string{"1", "2"} {
		if to, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd); err == nil && to == path {
			return true
		}
	}
	return false
}
