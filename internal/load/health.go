package load

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A watcher looks at this process.
type watcher struct {
	waits   map[string]int64 // of each thread that was last seen, in ns
	waited  int64            // of all threads
	unknown bool             // the kernel does not say
}

// look gives the state of this process and of its load; what cannot be read is 0.
func (w *watcher) look(l *loop) Health {
	h := Health{
		Second: l.elapsed(), Open: int(l.openNow.Load()), InFlight: int(l.inFlightNow.Load()), Waiting: int(l.waitingNow.Load()),
		RunWaitNs: w.runWait(),
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err == nil {
		h.CPUSeconds = time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	h.GCPauseNs = int64(gc.PauseTotal)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil {
		h.DescriptorLimit = int(min(limit.Cur, 1<<31-1))
	}
	h.Descriptors = max(0, len(list("/proc/self/fd"))-1) // without that of the reading
	return h
}

// runWait adds up how long the threads of this process waited for a CPU; nil if the kernel does not say.
func (w *watcher) runWait() *int64 {
	if w.unknown {
		return nil
	}
	seen := map[string]int64{}
	for _, tid := range list("/proc/self/task") {
		b, err := os.ReadFile("/proc/self/task/" + tid + "/schedstat")
		fields := bytes.Fields(b)
		if err != nil || len(fields) < 2 { // the thread has ended
			continue
		}
		ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err != nil {
			continue
		}
		seen[tid] = ns
		if last := w.waits[tid]; ns >= last {
			w.waited += ns - last
		} else { // another thread with the same number
			w.waited += ns
		}
	}
	if len(seen) == 0 {
		w.unknown = true
		return nil
	}
	w.waits = seen
	waited := w.waited
	return &waited
}

// list names the entries of a directory.
func list(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// elapsed is the time since the start in seconds, 0 before it.
func (l *loop) elapsed() float64 {
	if zero := l.zero.Load(); zero > 0 {
		return time.Duration(l.clock() - zero).Seconds()
	}
	return 0
}
