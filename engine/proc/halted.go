package proc

import "github.com/planrun/planrun/engine/proc/kernel"

// Halted looks at processes that got SIGSTOP: how many of them still are, and whether none of those can go on. A process in
// state D cannot either: it stops before it gets back to its own code.
func Halted(pids []int) (alive int, halted bool) {
	halted = true
	for _, pid := range pids {
		s, ok := kernel.Read(pid)
		if !ok || s.Dead() {
			continue
		}
		alive++
		switch s.State {
		case 'T', 't', 'D':
		default:
			halted = false
		}
	}
	return alive, halted
}
