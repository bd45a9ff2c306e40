package load

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	spinBefore = 50 * time.Microsecond  // how long before a due time precise pacing stops sleeping
	napLength  = 500 * time.Microsecond // least sleep of economical pacing
	spinPause  = 5 * time.Second        // without spinning, after another thread wanted the CPU
	preempted  = 50                     // involuntary context switches in a second that show it
)

// rawWait is up to how long the engine waits without telling Go's scheduler. Telling it costs more than the wait itself: its
// monitor takes the processor from the thread 20 us later and gives it back, which at 1000 requests a second is half of all
// CPU time of the load. A collection is not held up, because the signal by which it stops a thread ends the wait.
const rawWait = 10 * time.Millisecond

// nap is how long the engine sleeps when the next thing to do is left nanoseconds away, and whether it spins instead. A
// closed loop has nothing to be early for.
func nap(pacing string, open bool, left int64, mayspin bool) (sleep int64, spin bool) {
	switch {
	case left <= 0 || pacing == "busy":
		return 0, pacing == "busy"
	case !open:
		return left, false
	case pacing == "economical":
		return max(left, int64(napLength)), false
	case !mayspin:
		return left, false
	case left > int64(spinBefore):
		return left - int64(spinBefore), false
	}
	return 0, true
}

// wait waits in the way that the pacing asks for and handles what arrived.
func (e *epoll) wait(until int64) {
	for _, q := range []*queue{&e.dials, &e.timeouts, &e.pauses} {
		if q.first != nil {
			until = min(until, q.first.deadline)
		}
	}
	now := e.clock()
	left, spin := nap(e.job.Pacing, len(e.job.Rate) > 0, until-now, now >= e.spinAfter)
	e.spinning = e.spinning || spin
	if len(e.again) > 0 {
		left = 0
	}
	n := e.poll(left)
	if n <= 0 && len(e.again) == 0 || left > 0 {
		e.idleAt = e.clock()
	}
	again := e.again
	e.again = nil
	for i := range n {
		e.handle(&e.events[i])
	}
	for _, r := range again {
		if c := e.conns[r.slot]; c.gen == r.gen && (c.state == idle || c.state == busy) {
			e.readable(c, r.closing)
		}
	}
	e.due(e.clock())
}

// poll waits for events for at most ns nanoseconds.
func (e *epoll) poll(ns int64) int {
	var n uintptr
	var errno unix.Errno
	events, size := uintptr(unsafe.Pointer(&e.events[0])), uintptr(len(e.events))
	switch {
	case ns == 0:
		n, _, errno = unix.RawSyscall6(unix.SYS_EPOLL_WAIT, uintptr(e.ep), events, size, 0, 0, 0)
	case !e.noPwait2:
		ts := unix.NsecToTimespec(ns)
		call := unix.Syscall6
		if ns <= int64(rawWait) {
			call = unix.RawSyscall6
		}
		n, _, errno = call(unix.SYS_EPOLL_PWAIT2, uintptr(e.ep), events, size, uintptr(unsafe.Pointer(&ts)), 0, 8)
		if errno == unix.ENOSYS {
			e.noPwait2 = true
			return e.poll(ns)
		}
	default:
		ms := (ns + int64(time.Millisecond) - 1) / int64(time.Millisecond)
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_WAIT, uintptr(e.ep), events, size, uintptr(ms), 0, 0)
	}
	if errno != 0 {
		if !errors.Is(errno, unix.EINTR) {
			panic(fmt.Sprintf("waiting for events: %v", errno)) // a wrong argument: there is no going on
		}
		return 0
	}
	return int(n)
}

// tick looks whether spinning took the CPU from others: a thread that spins beside another one that wants to run is
// switched off involuntarily, over and over. Then it stops spinning for a while.
func (e *epoll) tick() {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return
	}
	if e.switchesOK && e.spinning && e.job.Pacing == "precise" && u.Nivcsw-e.switches > preempted {
		e.spinAfter = e.clock() + int64(spinPause)
	}
	e.switches, e.switchesOK, e.spinning = u.Nivcsw, true, false
}
