// Package hostspeed measures how fast a CPU works at the moment: the same piece of work each time, of the kind that a proxy
// does, by the CPU time of the thread that does it, so that waiting for a CPU does not count. It shows what no counter of a
// virtual machine tells: a clock that is lowered, a busy sibling of the core, caches and memory that others use.
// docs/decisions/0031 says how far it can be trusted.
package hostspeed

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// passes are how often a measurement does the piece and times it. Before them it is done once untimed, so that the CPU's caches
// have the kernel's code and data for it.
const passes = 7

// Here measures the CPU on which the calling thread runs, in less than a millisecond of its time: how many pieces a millisecond
// of CPU time does. The goroutine has to be locked to its thread.
func Here() (speed float64, err error) {
	took, err := timed(text())
	if err != nil {
		return 0, err
	}
	speed, ok := speedOf(took)
	if !ok {
		return 0, errors.New("the kernel's clock of a thread's CPU time is too coarse")
	}
	return speed, nil
}

// speedOf is how many pieces a millisecond of CPU time does, by the median of the passes; not ok if the clock saw none.
func speedOf(took []time.Duration) (speed float64, ok bool) {
	sorted := slices.Sorted(slices.Values(took))
	if len(sorted) == 0 || sorted[len(sorted)/2] <= 0 {
		return 0, false
	}
	return float64(time.Millisecond) / float64(sorted[len(sorted)/2]), true
}

// What one pass does. Most of its time are system calls, as with most proxies; of the rest, hashing has only the core and its
// clock, and the bytes that are far apart come from its caches.
const (
	transfers = 16        // messages through a pair of sockets: two system calls each
	message   = 1 << 10   // bytes
	hashed    = 8 << 10   // bytes, all of them
	passed    = 256 << 10 // bytes, one of each line of a cache
	line      = 64        // bytes
)

// text is what is hashed: written once, else all of it would be one page of zeros.
var text = sync.OnceValue(func() []byte {
	t := make([]byte, passed)
	for i := range t {
		t[i] = byte(i)
	}
	return t
})

// timed does the piece on the calling thread and returns the CPU time of each pass but the first.
func timed(text []byte) ([]time.Duration, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a pair of sockets: %w", err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	buf := make([]byte, message)
	took := make([]time.Duration, 1+passes)
	for i := range took {
		before, err := threadTime()
		if err != nil {
			return nil, err
		}
		if err := transfer(ends, buf); err != nil {
			return nil, err
		}
		buf[0] = byte(hash(text[:hashed], 1) ^ hash(text, line)) // it is sent, so that no compiler finds the work useless
		after, err := threadTime()
		if err != nil {
			return nil, err
		}
		took[i] = after - before
	}
	return took[1:], nil
}

// transfer sends messages from one end to the other.
func transfer(ends [2]int, buf []byte) error {
	for range transfers {
		if _, err := unix.Write(ends[0], buf); err != nil {
			return fmt.Errorf("writing to a socket: %w", err)
		}
		if _, err := unix.Read(ends[1], buf); err != nil {
			return fmt.Errorf("reading from a socket: %w", err)
		}
	}
	return nil
}

// hash reads each so many bytes one, and needs the one before for the next (FNV-1a).
func hash(text []byte, each int) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(text); i += each {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// threadTime is the CPU time that the calling thread has used.
func threadTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the CPU time of a thread: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
