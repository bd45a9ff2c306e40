//go:build linux && (amd64 || arm64)

package uring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// buffers are the receive buffers and the ring by which they are given to the kernel, which takes them from its head.
type buffers struct {
	size       int
	mask       uint32
	tail       uint32 // the kernel sees its low 16 bits when they are published
	registered bool
	ring       []bufEntry
	data       []byte
	ringMap    []byte
}

func (b *buffers) open(fd, count, size int) error {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_POPULATE
	b.size, b.mask = size, uint32(count-1)
	var err error
	if b.ringMap, err = unix.Mmap(-1, 0, count*int(unsafe.Sizeof(bufEntry{})), prot, flags); err != nil {
		return fmt.Errorf("memory for the ring of buffers: %w", err)
	}
	if b.data, err = unix.Mmap(-1, 0, count*size, prot, flags); err != nil {
		return fmt.Errorf("memory for %d buffers of %d bytes: %w", count, size, err)
	}
	b.ring = unsafe.Slice((*bufEntry)(unsafe.Pointer(&b.ringMap[0])), count)
	reg := bufRing{addr: uint64(uintptr(unsafe.Pointer(&b.ringMap[0]))), entries: uint32(count)}
	if _, errno := register(fd, registerBufRing, unsafe.Pointer(&reg), 1); errno != 0 {
		return fmt.Errorf("registering %d buffers: %w", count, explain(errno))
	}
	b.registered = true
	for i := range count {
		b.put(uint32(i))
	}
	b.publish()
	return nil
}

// put gives a buffer back, which the kernel sees after publish.
func (b *buffers) put(id uint32) {
	e := &b.ring[b.tail&b.mask]
	e.addr = uint64(uintptr(unsafe.Pointer(&b.data[int(id)*b.size])))
	e.length = uint32(b.size)
	if b.tail&b.mask == 0 {
		// Its neighbour is the ring's tail, which the kernel reads.
		atomic.StoreUint32(&e.bidTail, e.bidTail&^0xffff|id)
	} else {
		e.bidTail = id
	}
	b.tail++
}

// publish releases the ring's tail. Go has no atomic store of 16 bits, so that the first entry's number is stored along with
// it; only this side writes either.
func (b *buffers) publish() {
	first := &b.ring[0].bidTail
	atomic.StoreUint32(first, *first&0xffff|b.tail<<16)
}

func (b *buffers) unregister(fd int) {
	if b.registered {
		reg := bufRing{}
		register(fd, unregisterBufRing, unsafe.Pointer(&reg), 1)
		b.registered = false
	}
}

func (b *buffers) unmap() {
	for _, m := range [][]byte{b.ringMap, b.data} {
		if m != nil {
			_ = unix.Munmap(m) // it is one that Mmap gave
		}
	}
	b.ring, b.ringMap, b.data = nil, nil, nil
}
