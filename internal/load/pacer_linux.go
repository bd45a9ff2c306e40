package load

import "golang.org/x/sys/unix"

// sleepPrecisely takes the slack of 50 us from the sleeps of this thread. Without the right to do that pacing is that much
// coarser.
func sleepPrecisely() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// switchedOff is how often this thread was switched off involuntarily.
func switchedOff() (int64, bool) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Nivcsw, err == nil
}
