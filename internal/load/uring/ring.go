//go:build linux && (amd64 || arm64)

package uring

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Ring is an open io_uring with its buffers. See the package's comment for which thread may do what.
type Ring struct {
	fd      int
	enterFD uintptr // fd, or its index in the thread's registered rings, which saves looking it up at every enter
	flags   uintptr // of every enter

	sqHead, sqTail, sqFlags *uint32
	sqMask, sqEntries       uint32
	sqes                    []sqe
	tail                    uint32 // of what is queued; the kernel sees it at the next enter
	limit                   uint32 // the tail at which the queue is full

	cqHead, cqTail *uint32
	cqMask         uint32
	cqes           []cqe
	head           uint32 // of what is handled; the kernel sees it at the next enter

	buffers buffers

	// On the heap, so that they do not move while the kernel reads them.
	arg     waitArg
	timeout timespec

	err error // what made the ring unusable

	eventFD int
	woken   atomic.Uint32 // a wake-up is on its way
	wakeMu  sync.Mutex    // keeps eventFD open while it is written to

	rings, entries []byte // maps
	locked, closed bool
}

// Open makes a ring and locks the goroutine to its thread until Close. An error says in words why io_uring cannot be used.
func Open(c Config) (*Ring, error) {
	return open(c, 0)
}

// open makes a ring without some setup flags.
func open(c Config, without uint32) (*Ring, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	r := &Ring{fd: -1, eventFD: -1, locked: true}
	if err := r.open(c, without); err != nil {
		r.Close()
		return nil, fmt.Errorf("opening io_uring: %w", err)
	}
	return r, nil
}

func (r *Ring) open(c Config, without uint32) error {
	p, err := r.setup(c, without)
	if err != nil {
		return err
	}
	if err := r.mapQueues(p); err != nil {
		return err
	}
	if err := r.buffers.open(r.fd, c.Buffers, c.BufferSize); err != nil {
		return err
	}
	r.arg.timeout = address(unsafe.Pointer(&r.timeout))
	r.flags = enterGetEvents
	if p.features&featNoIOWait != 0 {
		// Waiting for a socket is not waiting for a disk: without this, an idle ring shows as a CPU in I/O wait.
		r.flags |= enterNoIOWait
	}
	r.enterFD = uintptr(r.fd)
	r.registerRing()
	if r.eventFD, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("an eventfd: %w", err)
	}
	r.pollWake()
	return r.Submit()
}

func (r *Ring) setup(c Config, without uint32) (*params, error) {
	const flags = setupCQSize | setupSubmitAll | setupTaskrunFlag | setupSingleIssuer | setupDeferTaskrun
	for _, also := range []uint32{setupNoSQArray, 0} {
		p := &params{flags: (flags | also) &^ without, cqEntries: uint32(c.Completions)}
		fd, _, errno := unix.Syscall(sysSetup, uintptr(c.Entries), uintptr(unsafe.Pointer(p)), 0)
		switch {
		case errno == unix.EINVAL && also != 0:
			continue // older than 6.6
		case errno != 0:
			return nil, explain(errno)
		}
		r.fd = int(fd)
		const needed = featSingleMmap | featNoDrop | featExtArg | featCQESkip
		if p.features&needed != needed {
			return nil, fmt.Errorf("the kernel's io_uring lacks features (it has %#x, needed are %#x)", p.features, needed)
		}
		return p, nil
	}
	return nil, explain(unix.EINVAL)
}

func (r *Ring) mapQueues(p *params) error {
	size := max(int(p.cq.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(cqe{})), int(p.sq.array)+int(p.sqEntries)*4)
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	var err error
	if r.rings, err = unix.Mmap(r.fd, 0, size, prot, flags); err != nil {
		return fmt.Errorf("mapping the queues: %w", err)
	}
	if r.entries, err = unix.Mmap(r.fd, offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(sqe{})), prot, flags); err != nil {
		return fmt.Errorf("mapping the submission queue's entries: %w", err)
	}
	at := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[off])) }
	r.sqHead, r.sqTail, r.sqFlags = at(p.sq.head), at(p.sq.tail), at(p.sq.flags)
	r.sqMask, r.sqEntries = *at(p.sq.mask), p.sqEntries
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.entries[0])), p.sqEntries)
	r.cqHead, r.cqTail, r.cqMask = at(p.cq.head), at(p.cq.tail), *at(p.cq.mask)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&r.rings[p.cq.cqes])), p.cqEntries)
	if p.flags&setupNoSQArray == 0 {
		for i := range p.sqEntries {
			*at(p.sq.array + i*4) = i
		}
	}
	r.tail, r.head = atomic.LoadUint32(r.sqTail), atomic.LoadUint32(r.cqHead)
	r.limit = r.tail + r.sqEntries
	return nil
}

// registerRing makes enter take the ring from a table of the thread's, if there is room: it has 16 places.
func (r *Ring) registerRing() {
	u := ringUpdate{offset: ^uint32(0), data: uint64(r.fd)}
	if _, errno := register(r.fd, registerRingFDs, unsafe.Pointer(&u), 1); errno == 0 {
		r.enterFD = uintptr(u.offset)
		r.flags |= enterRegisteredRing
	}
}

func (r *Ring) unregisterRing() {
	if r.flags&enterRegisteredRing != 0 {
		u := ringUpdate{offset: uint32(r.enterFD)}
		register(r.fd, unregisterRingFDs, unsafe.Pointer(&u), 1)
		r.enterFD = uintptr(r.fd)
		r.flags &^= enterRegisteredRing
	}
}

func register(fd int, op uintptr, arg unsafe.Pointer, n uintptr) (uintptr, unix.Errno) {
	r, _, errno := unix.Syscall6(sysRegister, uintptr(fd), op, uintptr(arg), n, 0, 0)
	return r, errno
}

// Close submits what is queued, cancels what is under way, and gives back the ring, its memory and its descriptors; not the
// sockets. No more completions are handed out. It may be called again.
func (r *Ring) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.wakeMu.Lock()
	event := r.eventFD
	r.eventFD = -1
	r.wakeMu.Unlock()
	if r.cqes != nil && r.err == nil {
		r.cancelAll()
	}
	r.buffers.unregister(r.fd)
	r.unregisterRing()
	for _, fd := range []int{r.fd, event} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	for _, m := range [][]byte{r.rings, r.entries} {
		if m != nil {
			_ = unix.Munmap(m) // it is one that Mmap gave
		}
	}
	r.buffers.unmap()
	r.sqes, r.cqes, r.rings, r.entries = nil, nil, nil, nil
	if r.locked {
		runtime.UnlockOSThread()
	}
}

// cancelAll ends every operation and waits for that: closing the ring does it too, but later, in the background.
func (r *Ring) cancelAll() {
	if r.Submit() != nil {
		return
	}
	c := syncCancel{fd: -1, flags: cancelAll | cancelAny, timeout: timespec{sec: 1}}
	register(r.fd, registerSyncCancel, unsafe.Pointer(&c), 1)
	for {
		if errno := r.enter(0, 0, unix.RawSyscall6); errno != 0 && errno != unix.EINTR {
			return
		}
		tail := atomic.LoadUint32(r.cqTail)
		if tail == r.head && atomic.LoadUint32(r.sqFlags)&(sqTaskrun|sqOverflow) == 0 {
			return
		}
		r.head = tail
	}
}
