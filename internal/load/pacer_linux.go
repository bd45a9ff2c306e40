package load

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// sleepPrecisely takes the slack of 50 us from the sleeps of this thread. Without the right to do that pacing is that much
// coarser.
func sleepPrecisely() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// switchedOff is how often this thread was switched off involuntarily.
func switchedOff() (int64, bool) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Nivcsw, err == nil
}

// pause sleeps for ns nanoseconds, at most a second, or until a signal, without telling Go's scheduler: see rawWait.
func pause(ns int64) {
	ts := unix.NsecToTimespec(ns)
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
