package probes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// pick gives the processes of that name, or if no process has it, of that role; "" is all.
func pick(all []task.Process, of string) []task.Process {
	match := func(p task.Process) bool { return of == "" || p.Name() == of }
	if !slices.ContainsFunc(all, match) {
		match = func(p task.Process) bool { return p.Role() == of }
	}
	var out []task.Process
	for _, p := range all {
		if match(p) {
			out = append(out, p)
		}
	}
	return out
}

// nobody is the error that nothing runs by that name or role.
func nobody(of string, env *task.ProbeEnv) error {
	return fmt.Errorf("no process is named %s, nor has such a role; there are %s", of, present(env.Processes.All()))
}

// over reports whether a process has ended: its id may then belong to another.
func over(p task.Process) bool {
	select {
	case <-p.Exited():
		return true
	default:
		return false
	}
}

// present lists the names and roles of processes, for messages.
func present(all []task.Process) string {
	var words []string
	for _, p := range all {
		words = append(words, fmt.Sprintf("%s (%s)", p.Name(), p.Role()))
	}
	if len(words) == 0 {
		return "none"
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ", ")
}
