package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socket is a non-blocking TCP connection as crypto/tls wants it. During the handshake, which has a goroutine of its own,
// Read waits until the loop signals that the socket is readable; after it Read answers errAgain when there is nothing to
// read, which leaves a tls.Conn usable. Write accepts everything and keeps what the kernel does not take.
type socket struct {
	fd       int
	readable chan struct{}   // signals during the handshake
	ctx      context.Context // of the handshake; nil after it
	out      []byte          // what remains to be written
	drained  bool            // the last read was short, so the next one would find nothing
}

// errAgain is temporary and a timeout, so that crypto/tls does not take it for the end of the connection.
var errAgain net.Error = again{}

type again struct{}

func (again) Error() string   { return "nothing to read yet" }
func (again) Temporary() bool { return true }
func (again) Timeout() bool   { return true }

func (s *socket) Read(b []byte) (int, error) {
	for {
		if s.drained {
			s.drained = false
			if s.ctx == nil {
				return 0, errAgain
			}
		}
		n, errno := sysRead(s.fd, b)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN && s.ctx != nil:
			select {
			case <-s.readable:
				continue
			case <-s.ctx.Done():
				return 0, s.ctx.Err()
			}
		case errno == unix.EAGAIN:
			return 0, errAgain
		case errno != 0:
			return 0, errno
		case n == 0:
			return 0, io.EOF
		}
		s.drained = n < len(b)
		return n, nil
	}
}

func (s *socket) Write(b []byte) (int, error) {
	if len(s.out) > 0 {
		s.out = append(s.out, b...)
		return len(b), nil
	}
	n, err := write(s.fd, b)
	if err != nil {
		return 0, err
	}
	s.out = append(s.out, b[n:]...)
	return len(b), nil
}

// flush writes what remains.
func (s *socket) flush() error {
	n, err := write(s.fd, s.out)
	s.out = s.out[n:]
	return err
}

func (s *socket) Close() error                     { return nil } // the loop closes descriptors
func (s *socket) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *socket) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *socket) SetDeadline(time.Time) error      { return nil }
func (s *socket) SetReadDeadline(time.Time) error  { return nil }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// write writes what the kernel takes at once.
func write(fd int, b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, errno := sysWrite(fd, b[done:])
		switch errno {
		case 0:
			done += n
		case unix.EINTR:
		case unix.EAGAIN:
			return done, nil
		default:
			return done, errno
		}
	}
	return done, nil
}

// The raw calls tell the scheduler nothing, which is right only because they never block.

func sysRead(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}

// sysWrite is a send, because a write to a closed connection raises a signal.
func sysWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// resolve looks the address up, once for the life of a load, and takes the first answer.
func resolve(ctx context.Context, address string) (unix.Sockaddr, int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, 0, fmt.Errorf("port of %s: %w", address, err)
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, 0, fmt.Errorf("resolving %s: %w", address, err)
	}
	if len(ips) == 0 {
		return nil, 0, fmt.Errorf("resolving %s: no address", address)
	}
	ip := ips[0]
	if v4 := ip.IP.To4(); v4 != nil {
		return &unix.SockaddrInet4{Port: n, Addr: [4]byte(v4)}, unix.AF_INET, nil
	}
	sa := &unix.SockaddrInet6{Port: n, Addr: [16]byte(ip.IP.To16())}
	if ip.Zone != "" {
		dev, err := net.InterfaceByName(ip.Zone)
		if err != nil {
			return nil, 0, fmt.Errorf("zone of %s: %w", address, err)
		}
		sa.ZoneId = uint32(dev.Index)
	}
	return sa, unix.AF_INET6, nil
}

// connect begins a connection. The caller closes the descriptor if it is not -1, also after an error.
func connect(family int, to unix.Sockaddr) (fd int, err error) {
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fd, err
	}
	if err := unix.Connect(fd, to); err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		return fd, err
	}
	return fd, nil
}

// dialClass is the class of an error of connect: what this machine lacks is not the target's failure.
func dialClass(err error) string {
	for _, own := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL, unix.EAGAIN, unix.ENOSPC} {
		if errors.Is(err, own) {
			return generatorClass
		}
	}
	return Connect
}
