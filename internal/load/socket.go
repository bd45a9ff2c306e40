package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
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

// sysWrite is a send, because a write to a closed connection raises a signal.
func sysWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// A route is an address to dial and where from.
type route struct {
	family int
	to     unix.Sockaddr
	from   unix.Sockaddr // nil lets the kernel choose
}

// route is the way that a connection takes.
func (p *pool) route(c *conn) route { return p.routes[c.source%len(p.routes)] }

// resolve looks the address up, once for the life of a load, and takes the first answer; with sources there is a route from
// each.
func resolve(ctx context.Context, address string, sources []netip.Addr) ([]route, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", address, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", address, err)
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("resolving %s: no address", address)
	}
	ip := ips[0].Unmap()
	to, family, err := sockaddr(ip, n)
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return []route{{family: family, to: to}}, nil
	}
	var routes []route
	for _, s := range sources {
		if s.Is4() != ip.Is4() {
			continue
		}
		from, _, err := sockaddr(s, 0)
		if err != nil {
			return nil, err
		}
		routes = append(routes, route{family, to, from})
	}
	if routes == nil {
		return nil, fmt.Errorf("no source address is of the family of %s", ip)
	}
	return routes, nil
}

func sockaddr(ip netip.Addr, port int) (unix.Sockaddr, int, error) {
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

// maxSources bounds the addresses that networks stand for.
const maxSources = 4096

// sources expands addresses and networks into addresses. A network's own and broadcast address are left out.
func sources(texts []string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, a.Unmap())
			continue
		}
		n, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, wrong("source %q: neither an address nor a network such as 127.0.1.0/24", text)
		}
		n = n.Masked()
		first := len(out)
		for a := n.Addr(); n.Contains(a) && len(out) <= maxSources; a = a.Next() {
			out = append(out, a)
		}
		if hosts := out[first:]; len(hosts) > 2 {
			hosts = hosts[1:]
			if n.Addr().Is4() && !n.Contains(hosts[len(hosts)-1].Next()) {
				hosts = hosts[:len(hosts)-1]
			}
			out = append(out[:first], hosts...)
		}
	}
	if len(out) > maxSources {
		return nil, wrong("more than %d source addresses", maxSources)
	}
	return out, nil
}

// openSocket makes a socket for a route, bound to its source. The caller closes the descriptor if it is not -1, also after an
// error.
func openSocket(j *job, r route, flags int) (fd int, err error) {
	fd, err = unix.Socket(r.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, unix.IPPROTO_TCP)
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
	if r.from != nil {
		// The port is chosen by connect, which may use one again that goes elsewhere.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return fd, err
		}
		if err := unix.Bind(fd, r.from); err != nil {
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
	if err := unix.Connect(fd, r.to); err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		return fd, err
	}
	return fd, nil
}
