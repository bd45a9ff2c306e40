//go:build linux && (amd64 || arm64)

package uring

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawWait is up to how many nanoseconds Wait waits without telling Go's scheduler. Telling it costs more than the wait: its
// monitor takes the processor from the thread after 20 us. A collection is not held up, because the signal by which it stops a
// thread ends the wait; a longer wait would keep a processor from other goroutines.
const rawWait = int64(10 * time.Millisecond)

// Wait submits what is queued, waits until there is a completion or the time is over, and calls handle for each completion
// that is there. timeoutNs is in nanoseconds; 0 does not wait, negative waits for ever. It may return early without any
// completion, after a signal. It must not be called by handle.
//
// handle gets the operation's user data; its result, which is the system call's or a negative errno; More and NonEmpty; and
// what was received, which is valid until handle returns and then belongs to the kernel again. Its capacity is its length.
//
// An error says that the ring is of no use any more: operations are lost and only Close makes sense.
func (r *Ring) Wait(timeoutNs int64, handle func(ud uint64, res int32, flags uint32, data []byte)) error {
	if r.err != nil {
		return r.err
	}
	var errno unix.Errno
	switch {
	case timeoutNs == 0:
		if r.Queued() == 0 && atomic.LoadUint32(r.sqFlags)&(sqTaskrun|sqOverflow) == 0 {
			break // nothing to do for the kernel, so that spinning needs no system call
		}
		errno = r.enter(0, 0, unix.RawSyscall6)
	case timeoutNs < 0:
		errno = r.enter(1, 0, unix.Syscall6)
	case timeoutNs <= rawWait:
		r.timeout = timespec{nsec: timeoutNs}
		errno = r.enter(1, enterExtArg, unix.RawSyscall6)
	default:
		r.timeout = timespec{sec: timeoutNs / 1e9, nsec: timeoutNs % 1e9}
		errno = r.enter(1, enterExtArg, unix.Syscall6)
	}
	if errno != 0 && !passing(errno) {
		return r.fail(errno)
	}
	tail := atomic.LoadUint32(r.cqTail)
	for r.head != tail {
		c := &r.cqes[r.head&r.cqMask]
		ud, res, flags := c.userData, c.res, c.flags
		r.head++
		if ud >= Nobody {
			if ud == Nobody {
				r.drop(flags)
				continue
			}
			r.rearmWake(flags)
			res, flags = 0, 0
		}
		if flags&cqeBuffer == 0 {
			handle(ud, res, flags, nil)
			continue
		}
		id := flags >> cqeBufferShift
		from := int(id) * r.buffers.size
		to := from + int(max(res, 0)) // some kernels hand a buffer out with the end of the stream
		handle(ud, res, flags&(More|NonEmpty), r.buffers.data[from:to:to])
		r.buffers.put(id)
	}
	atomic.StoreUint32(r.cqHead, r.head)
	return r.err
}

// drop gives back the buffer of a completion that nobody wants.
func (r *Ring) drop(flags uint32) {
	if flags&cqeBuffer != 0 {
		r.buffers.put(flags >> cqeBufferShift)
	}
}

// enter shows the kernel what changed, submits what is queued, and waits for completions if least is not 0. Afterwards limit
// is up to date. The kernel takes up completions that did not fit into the queue by itself, since there is room.
func (r *Ring) enter(least, flags uintptr, call func(trap, a1, a2, a3, a4, a5, a6 uintptr) (uintptr, uintptr, unix.Errno)) unix.Errno {
	r.buffers.publish()
	atomic.StoreUint32(r.cqHead, r.head)
	atomic.StoreUint32(r.sqTail, r.tail)
	var arg, size uintptr
	if flags != 0 {
		arg, size = uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg)
	}
	_, _, errno := call(sysEnter, r.enterFD, uintptr(r.Queued()), least, r.flags|flags, arg, size)
	r.limit = atomic.LoadUint32(r.sqHead) + r.sqEntries
	return errno
}

// Queued is how many operations are queued and not submitted.
func (r *Ring) Queued() int { return int(r.tail - (r.limit - r.sqEntries)) }

// passing tells whether an enter failed in a way that another one mends: a signal, the end of the time, memory that is short
// for the moment, completions that are to be handled first.
func passing(errno unix.Errno) bool {
	return errno == unix.EINTR || errno == unix.ETIME || errno == unix.EAGAIN || errno == unix.EBUSY
}

// fail makes the ring unusable.
func (r *Ring) fail(errno unix.Errno) error {
	switch {
	case r.err != nil:
	case errno == unix.EBADR:
		r.err = fmt.Errorf("io_uring lost completions, for lack of memory: %w", errno)
	case errno == unix.EEXIST, r.flags&enterRegisteredRing != 0 && (errno == unix.EBADF || errno == unix.EINVAL):
		r.err = fmt.Errorf("io_uring used by another thread than the one that opened it: %w", errno)
	default:
		r.err = fmt.Errorf("io_uring_enter: %w", errno)
	}
	return r.err
}
