package load

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// sysSkip reads and throws away up to n bytes, without copying them: MSG_TRUNC, tcp(7).
func sysSkip(fd int, n int) (int, unix.Errno) {
	k, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(n), unix.MSG_TRUNC, 0, 0)
	return int(k), errno
}

// sysWrite is a send, because a write to a closed connection raises a signal.
func sysWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// sockaddr is an address in the form of a system call, with its family.
func sockaddr(a netip.AddrPort) (unix.Sockaddr, int, error) {
	ip, port := a.Addr(), int(a.Port())
	if ip.Is4() {
		return &unix.SockaddrInet4{Port: port, Addr: ip.As4()}, unix.AF_INET, nil
	}
	sa := &unix.SockaddrInet6{Port: port, Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		dev, err := net.InterfaceByName(zone)
		if err != nil {
			return nil, 0, fmt.Errorf("zone of %s: %w", ip, err)
		}
		sa.ZoneId = uint32(dev.Index)
	}
	return sa, unix.AF_INET6, nil
}

// openSocket makes a socket for a route, bound to its source. The caller closes the descriptor if it is not -1, also after an
// error.
func openSocket(j *job, r route, flags int) (fd int, err error) {
	_, family, err := sockaddr(r.to)
	if err != nil {
		return -1, err
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fd, err
	}
	if j.ReadRate > 0 {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<10); err != nil {
			return fd, err
		}
	}
	if r.from.IsValid() {
		// The port is chosen by connect, which may use one again that goes elsewhere.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return fd, err
		}
		from, _, err := sockaddr(netip.AddrPortFrom(r.from, 0))
		if err == nil {
			err = unix.Bind(fd, from)
		}
		if err != nil {
			return fd, fmt.Errorf("source address: %w", err)
		}
	}
	return fd, nil
}

// dialSocket begins a connection. The caller closes the descriptor if it is not -1, also after an error.
func dialSocket(j *job, r route) (fd int, err error) {
	if fd, err = openSocket(j, r, unix.SOCK_NONBLOCK); err != nil {
		return fd, err
	}
	to, _, err := sockaddr(r.to)
	if err != nil {
		return fd, err
	}
	if err := unix.Connect(fd, to); err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		return fd, err
	}
	return fd, nil
}
