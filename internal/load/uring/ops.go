//go:build linux && (amd64 || arm64)

package uring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// entry is the next submission queue entry, all zero: they are used again. (Zeroing an entry and then writing words
// of it takes half the time of assigning a struct of named fields.)
func (r *Ring) entry() *sqe {
	if r.tail == r.limit {
		r.room()
	}
	e := &r.sqes[r.tail&r.sqMask]
	r.tail++
	*e = sqe{}
	return e
}

// room submits until an entry is free. If the ring has failed, entries go nowhere.
func (r *Ring) room() {
	const tries = 1000 // while the kernel is short of memory
	for range tries {
		if r.Submit() != nil {
			break
		}
		if r.tail != r.limit {
			return
		}
	}
	_ = r.fail(unix.EAGAIN)
	r.sqes = make([]sqe, len(r.sqes))
}

// Submit submits what is queued now rather than in Wait. An error is one of Wait's.
func (r *Ring) Submit() error {
	if r.err != nil {
		return r.err
	}
	if errno := r.enter(0, 0, unix.RawSyscall6); errno != 0 && !passing(errno) {
		return r.fail(errno)
	}
	return nil
}

// head is the first word of an entry.
func head(op, flags, priority uint64, fd int) uint64 {
	return op | flags<<8 | priority<<16 | uint64(uint32(fd))<<32
}

// never is always false, which the compiler does not know.
var never atomic.Bool

// sink takes what is to be on the heap.
//
//lint:ignore U1000 nothing reads it: that it could be written is what counts
var sink unsafe.Pointer

// address makes what p points to escape to the heap, where it does not move.
func address(p unsafe.Pointer) uint64 {
	if never.Load() {
		sink = p
	}
	return uint64(uintptr(p))
}

// Send sends all of b and completes then, with its length; with less or an error if the connection broke. It raises no
// SIGPIPE. b is up to 2 GiB long, reachable and unchanged until the completion.
func (r *Ring) Send(fd int, b []byte, ud uint64) {
	e := r.entry()
	e.head = head(opSend, 0, 0, fd)
	e.addr = address(unsafe.Pointer(unsafe.SliceData(b)))
	e.length = uint64(uint32(len(b))) | sendFlags
	e.userData = ud
}

// SendStatic is Send without a completion unless it fails, which also is when only a part of b could be sent: then the result
// is the length of that part. b stays reachable and unchanged until the socket is closed or the peer has shown that it has b.
func (r *Ring) SendStatic(fd int, b []byte, ud uint64) {
	e := r.entry()
	e.head = head(opSend, sqeSkipSuccess, 0, fd)
	e.addr = address(unsafe.Pointer(unsafe.SliceData(b)))
	e.length = uint64(uint32(len(b))) | sendFlags
	e.userData = ud
}

// sendFlags stand in an entry's length.
const sendFlags = (unix.MSG_NOSIGNAL | unix.MSG_WAITALL) << 32

// RecvMultishot receives into the ring's buffers again and again until a completion has no More. See the package's comment.
func (r *Ring) RecvMultishot(fd int, ud uint64) {
	r.simple(head(opRecv, sqeBufferSelect, recvMultishot, fd), 0, 0, ud)
}

// Recv receives once into one of the ring's buffers. Without a free buffer it completes with -ENOBUFS.
func (r *Ring) Recv(fd int, ud uint64) {
	r.simple(head(opRecv, sqeBufferSelect, 0, fd), 0, 0, ud)
}

// Cancel ends all operations of a user data; they complete with -ECANCELED unless they have completed otherwise. It itself
// completes with how many it found, which may be none.
func (r *Ring) Cancel(target, ud uint64) {
	r.simple(head(opCancel, skip(ud), 0, -1), target, cancelAll<<32, ud)
}

// CancelFD is Cancel for all operations of a descriptor.
func (r *Ring) CancelFD(fd int, ud uint64) {
	r.simple(head(opCancel, skip(ud), 0, fd), 0, (cancelAll|cancelFD)<<32, ud)
}

// CloseFD closes a descriptor, which does not end operations on it.
func (r *Ring) CloseFD(fd int, ud uint64) {
	r.simple(head(opClose, skip(ud), 0, fd), 0, 0, ud)
}

func (r *Ring) simple(head, addr, length, ud uint64) {
	e := r.entry()
	e.head = head
	e.addr = addr
	e.length = length
	e.userData = ud
}

// skip spares the completion of an operation that succeeded and in which nobody is interested.
func skip(ud uint64) uint64 {
	if ud == Nobody {
		return sqeSkipSuccess
	}
	return 0
}

// Connect connects a socket and completes with 0 then. a is read until the operation is submitted, at the latest in the next
// Wait.
func (r *Ring) Connect(fd int, a *Address, ud uint64) {
	e := r.entry()
	e.head = head(opConnect, 0, 0, fd)
	e.off = uint64(a.length)
	e.addr = address(unsafe.Pointer(&a.raw))
	e.userData = ud
}

// An Address is where to connect to, in the kernel's form.
type Address struct {
	raw    unix.RawSockaddrAny
	length uint32
}

// NewAddress converts an address of IPv4, IPv6 or a Unix socket.
func NewAddress(a unix.Sockaddr) (*Address, error) {
	n := &Address{}
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		raw := (*unix.RawSockaddrInet4)(unsafe.Pointer(&n.raw))
		raw.Family, raw.Addr = unix.AF_INET, a.Addr
		raw.Port = bigEndian(a.Port)
		n.length = unix.SizeofSockaddrInet4
	case *unix.SockaddrInet6:
		raw := (*unix.RawSockaddrInet6)(unsafe.Pointer(&n.raw))
		raw.Family, raw.Addr, raw.Scope_id = unix.AF_INET6, a.Addr, a.ZoneId
		raw.Port = bigEndian(a.Port)
		n.length = unix.SizeofSockaddrInet6
	case *unix.SockaddrUnix:
		raw := (*unix.RawSockaddrUnix)(unsafe.Pointer(&n.raw))
		if len(a.Name) == 0 || len(a.Name) >= len(raw.Path) {
			return nil, fmt.Errorf("the path of a socket of %d bytes: 1 to %d are possible", len(a.Name), len(raw.Path)-1)
		}
		raw.Family = unix.AF_UNIX
		for i := range len(a.Name) {
			raw.Path[i] = int8(a.Name[i])
		}
		n.length = uint32(2 + len(a.Name) + 1)
		if a.Name[0] == '@' { // abstract: by its length, not a zero byte
			raw.Path[0] = 0
			n.length--
		}
	default:
		return nil, fmt.Errorf("an address of type %T cannot be connected to", a)
	}
	return n, nil
}

func bigEndian(port int) uint16 { return uint16(port)<<8 | uint16(port)>>8 }
