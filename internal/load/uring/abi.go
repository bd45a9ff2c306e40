//go:build linux && (amd64 || arm64)

package uring

import "unsafe"

// The kernel's interface, from include/uapi/linux/io_uring.h; both architectures are little-endian and share the numbers.

const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427

	setupCQSize       = 1 << 3
	setupClamp        = 1 << 4
	setupSubmitAll    = 1 << 7  // an invalid entry does not keep those after it back
	setupTaskrunFlag  = 1 << 9  // shows in the queue's flags that there is work for Wait
	setupSingleIssuer = 1 << 12 // one thread: no locking
	setupDeferTaskrun = 1 << 13 // completions are worked off inside Wait alone, not whenever the thread is in the kernel
	setupNoSQArray    = 1 << 16 // from 6.6: entries are taken in order, without an index beside them

	featSingleMmap = 1 << 0
	featNoDrop     = 1 << 1 // completions that do not fit are kept
	featExtArg     = 1 << 8
	featCQESkip    = 1 << 11
	featNoIOWait   = 1 << 17

	enterGetEvents      = 1 << 0
	enterExtArg         = 1 << 3
	enterRegisteredRing = 1 << 4
	enterNoIOWait       = 1 << 7

	sqOverflow = 1 << 1 // completions wait outside the completion queue
	sqTaskrun  = 1 << 2

	registerRingFDs    = 20
	unregisterRingFDs  = 21
	registerBufRing    = 22
	unregisterBufRing  = 23
	registerSyncCancel = 24

	offSQEs = 0x10000000

	opPollAdd = 6
	opCancel  = 14
	opConnect = 16
	opClose   = 19
	opSend    = 26
	opRecv    = 27

	sqeBufferSelect = 1 << 5
	sqeSkipSuccess  = 1 << 6

	recvMultishot = 1 << 1 // in the entry's priority
	pollMulti     = 1 << 0 // in the entry's length

	cancelAll = 1 << 0
	cancelFD  = 1 << 1
	cancelAny = 1 << 2

	cqeBuffer      = 1 << 0
	cqeBufferShift = 16
)

// An sqe is a submission queue entry in words.
type sqe struct {
	head     uint64 // opcode 8, flags 8, priority 16, descriptor 32 bits
	off      uint64
	addr     uint64
	length   uint64 // length 32, flags of the operation 32 bits
	userData uint64
	bufGroup uint64 // group 16, personality 16, file index 32 bits; 0 is the ring's only group of buffers
	_        [2]uint64
}

type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}

type params struct {
	sqEntries, cqEntries, flags, sqCPU, sqIdle, features, wqFD uint32
	_                                                          [3]uint32
	sq                                                         struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// A waitArg is struct io_uring_getevents_arg.
type waitArg struct {
	sigmask    uint64
	sigmaskLen uint32
	_          uint32
	timeout    uint64 // address of a timespec
}

type timespec struct{ sec, nsec int64 }

type bufRing struct {
	addr    uint64
	entries uint32
	group   uint16
	_       uint16
	_       [3]uint64
}

// A bufEntry is struct io_uring_buf. The ring's tail lies in the high half of the first entry's bidTail.
type bufEntry struct {
	addr    uint64
	length  uint32
	bidTail uint32
}

type ringUpdate struct {
	offset, _ uint32
	data      uint64
}

type syncCancel struct {
	addr    uint64
	fd      int32
	flags   uint32
	timeout timespec
	_       [4]uint64
}

// The compiler holds the sizes.
var (
	_ [64]byte  = [unsafe.Sizeof(sqe{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(cqe{})]byte{}
	_ [120]byte = [unsafe.Sizeof(params{})]byte{}
	_ [24]byte  = [unsafe.Sizeof(waitArg{})]byte{}
	_ [40]byte  = [unsafe.Sizeof(bufRing{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(bufEntry{})]byte{}
	_ [16]byte  = [unsafe.Sizeof(ringUpdate{})]byte{}
	_ [64]byte  = [unsafe.Sizeof(syncCancel{})]byte{}
)
