package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/proc/kernel"
)

var selfPID = os.Getpid()

// DefaultGrace is between the signal that ends a process and SIGKILL.
const DefaultGrace = 10 * time.Second

// killed is how long a tree may take to be gone after SIGKILL.
const killed = 10 * time.Second

// end ends the tree. The process itself gets its stop signal and the chance to end its own children; what is left when it
// has gone gets SIGTERM; what is left after the grace, SIGKILL. It looks again until nothing is left, because a tree may
// grow while it is ended. When ctx ends the grace is over. The error lists what could not be ended.
func (id *identity) end(ctx context.Context, seen map[int]uint64) error {
	stop, err := signalNumber(id.Stop)
	if err != nil {
		return err
	}
	grace := time.After(time.Duration(id.GraceMs) * time.Millisecond)
	var deadline <-chan time.Time
	force := false
	told := map[int]uint64{}
	wait := time.Millisecond
	for {
		tree, err := id.tree(seen)
		if err != nil {
			return fmt.Errorf("looking for the processes of %s: %w", id.Name, err)
		}
		if len(tree) == 0 {
			return nil
		}
		main := id.main(tree)
		for _, s := range tree {
			switch {
			case force:
				send(s, syscall.SIGKILL)
			case told[s.PID] == s.Start:
			case s.PID == main:
				send(s, stop)
				send(s, syscall.SIGCONT)
				told[s.PID] = s.Start
			case main == 0:
				send(s, syscall.SIGTERM)
				send(s, syscall.SIGCONT)
				told[s.PID] = s.Start
			}
		}
		select {
		case <-time.After(wait):
		case <-grace:
			force = true
		case <-ctx.Done():
			force = true
		case <-deadline:
			return fmt.Errorf("ending %s: still there after SIGKILL: %s", id.Name, describe(tree))
		}
		if force && deadline == nil {
			deadline = time.After(killed)
		}
		if force {
			grace, ctx = nil, context.WithoutCancel(ctx)
		}
		wait = min(wait*3/2+time.Millisecond, 50*time.Millisecond)
	}
}

// main is the process id of the tree's first process while it lives; 0 after that, or if it was never known.
func (id *identity) main(tree []kernel.Stat) int {
	for _, s := range tree {
		if id.isSelf(s) {
			return s.PID
		}
	}
	return 0
}

// send signals exactly the process that was seen: through a descriptor of it that is taken before its start time is
// compared, so that an id that was used again in between gets nothing.
func send(s kernel.Stat, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(s.PID, 0)
	if errors.Is(err, syscall.ENOSYS) { // before Linux 5.3
		if kernel.StartTime(s.PID) == s.Start {
			_ = syscall.Kill(s.PID, sig)
		}
		return
	}
	if err != nil {
		return // gone
	}
	defer unix.Close(fd)
	if kernel.StartTime(s.PID) == s.Start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

func describe(tree []kernel.Stat) string {
	var b strings.Builder
	for i, s := range tree {
		if i > 0 {
			b.WriteString(", ")
		}
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.PID))
		if err != nil {
			name = []byte("?")
		}
		fmt.Fprintf(&b, "%d (%s)", s.PID, strings.TrimSpace(string(name)))
	}
	return b.String()
}

// signalNumber understands TERM and SIGTERM; "" is TERM.
func signalNumber(name string) (syscall.Signal, error) {
	if name == "" {
		return syscall.SIGTERM, nil
	}
	full := strings.ToUpper(name)
	if !strings.HasPrefix(full, "SIG") {
		full = "SIG" + full
	}
	if n := unix.SignalNum(full); n != 0 {
		return n, nil
	}
	return 0, fmt.Errorf("there is no signal %q", name)
}
