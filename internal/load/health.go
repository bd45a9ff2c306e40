package load

import (
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// health is the state of this process; what cannot be read is 0.
func (l *loop) health() Health {
	h := Health{
		Second: l.elapsed(), Open: int(l.openNow.Load()), InFlight: int(l.inFlightNow.Load()), Waiting: int(l.waitingNow.Load()),
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err == nil {
		h.CPUSeconds = time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	h.GCPauseNs = int64(gc.PauseTotal)
	if d, err := os.Open("/proc/self/fd"); err == nil {
		names, _ := d.Readdirnames(-1)
		d.Close()
		h.Descriptors = max(0, len(names)-1) // without that of the reading
	}
	return h
}

// elapsed is the time since the start in seconds, 0 before it.
func (l *loop) elapsed() float64 {
	if zero := l.zero.Load(); zero > 0 {
		return time.Duration(l.clock() - zero).Seconds()
	}
	return 0
}
