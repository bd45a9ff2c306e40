package relay

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	bufferSize = 32 << 10
	bulk       = 1 << 20 // bytes that the kernel moves on its own before they are counted
)

var bufferPool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// pass moves bytes from src to dst until src has ended (nil) or one of them failed, and counts them.
//
// Small messages are read and written: that is fewer system calls than splice needs, and connections that wait hold
// neither a buffer nor the two descriptors of a pipe, as io.Copy would. What fills the buffer is taken for a large transfer
// and spliced.
func pass(dst, src *net.TCPConn, count *atomic.Int64) error {
	raw, err := src.SyscallConn()
	if err != nil {
		return err
	}
	for {
		b, n, err := readWhenReady(raw)
		if n > 0 {
			m, failed := dst.Write(b[:n])
			count.Add(int64(m))
			bufferPool.Put(b)
			if failed != nil {
				return failed
			}
		}
		if n == 0 || err != nil {
			return err
		}
		for n == bufferSize {
			m, err := dst.ReadFrom(&io.LimitedReader{R: src, N: bulk})
			count.Add(m)
			if m < bulk {
				return err
			}
		}
	}
}

// readWhenReady takes a buffer when there is something to read; it has none for n = 0, the end.
func readWhenReady(raw syscall.RawConn) (b *[bufferSize]byte, n int, err error) {
	failed := raw.Read(func(fd uintptr) bool {
		b = bufferPool.Get().(*[bufferSize]byte)
		for {
			n, err = syscall.Read(int(fd), b[:])
			if err != syscall.EINTR {
				break
			}
		}
		if n <= 0 {
			bufferPool.Put(b)
			b, n = nil, 0
		}
		return err != syscall.EAGAIN
	})
	if failed != nil {
		return nil, 0, failed
	}
	return b, n, err
}
