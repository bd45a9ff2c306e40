//go:build linux && (amd64 || arm64)

package uring

import "golang.org/x/sys/unix"

// Wake makes Wait, now or the next time, return after calling handle with Woken. Many calls may make one such call. Any
// goroutine may call it; after Close it does nothing.
func (r *Ring) Wake() {
	if r.woken.Swap(1) != 0 {
		return
	}
	r.wakeMu.Lock()
	defer r.wakeMu.Unlock()
	if r.eventFD >= 0 {
		one := [8]byte{1}
		_, _ = unix.Write(r.eventFD, one[:]) // it can only be full of wake-ups
	}
}

// pollWake watches for wake-ups. A multishot poll is edge-triggered, so that the eventfd need not be read for it.
func (r *Ring) pollWake() {
	r.simple(head(opPollAdd, 0, 0, r.eventFD), 0, pollMulti|unix.POLLIN<<32, Woken)
}

// rearmWake makes the next Wake count, before what led to this one is looked at.
func (r *Ring) rearmWake(flags uint32) {
	r.woken.Store(0)
	if flags&More == 0 {
		// Counts on one that is not zero: the new poll reports at once what came in between.
		r.pollWake()
	}
}
