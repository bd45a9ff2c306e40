package listen

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// backlog is how many connections may wait for Accept after Again; the system lowers it to its own limit.
const backlog = 4096

// Refuse stops listening and keeps the port: whoever connects is refused until Again, and Accept waits. It returns how many
// connections waited for Accept: they are reset.
//
// Nothing is closed: Linux lets a socket that listens go back to one that is only bound (shutdown), and listen again. So
// nobody else can have the port in between.
func (l *Listener) Refuse() (waited int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again != nil || l.isClosed() {
		return 0, nil
	}
	at := l.Addr().(*net.TCPAddr)
	l.again = make(chan struct{}) // before Accept can fail of it
	err = l.control(func(fd int) error {
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			waited = int(info.Unacked) // of a listener: what waits for accept
		}
		if err := unix.Shutdown(fd, unix.SHUT_RD); err != nil {
			return fmt.Errorf("shutdown: %w", err)
		}
		return keep(fd, at)
	})
	if err != nil {
		return waited, fmt.Errorf("refusing connections to %v: %w", at, err)
	}
	return waited, nil
}

// Again listens again after Refuse.
func (l *Listener) Again() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.again == nil || l.isClosed() {
		return nil
	}
	err := l.control(func(fd int) error {
		if err := keep(fd, l.Addr().(*net.TCPAddr)); err != nil {
			return err
		}
		return unix.Listen(fd, backlog)
	})
	if err != nil {
		return fmt.Errorf("listening again at %v: %w", l.Addr(), err)
	}
	close(l.again)
	l.again = nil
	return nil
}

// keep binds the socket to its port if it no longer is: one that the system chose is given back when it listens no more.
func keep(fd int, at *net.TCPAddr) error {
	if err := unix.Bind(fd, address(at)); err != nil && err != unix.EINVAL { // which is that it has one
		return fmt.Errorf("keeping port %d: %w", at.Port, err)
	}
	return nil
}

// control does something with the descriptor of the listener.
func (l *Listener) control(f func(fd int) error) error {
	c, ok := l.Listener.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no descriptor", l.Listener)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// refusing returns what is closed when it listens again; nil if it does.
func (l *Listener) refusing() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.again
}

func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

func address(a *net.TCPAddr) unix.Sockaddr {
	if ip := a.IP.To4(); ip != nil {
		return &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)}
	}
	s := &unix.SockaddrInet6{Port: a.Port}
	copy(s.Addr[:], a.IP.To16())
	return s
}
