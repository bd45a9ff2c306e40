package proc

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

// A portClaim holds ports for this process until it is released, or the process ends. Every planrun of the same network
// namespace sees the others' claims: a claim is a name in the namespace's table of abstract Unix sockets, which belongs to
// the same namespace as the ports themselves, and which the kernel gives up by itself when its holder dies. So a killed
// engine leaves nothing behind, as lock files would.
type portClaim struct {
	mu   sync.Mutex
	held map[int]int // port -> descriptor
}

// take claims n ports that nobody listens on and that no outgoing connection is given as its source: they lie outside
// ip_local_port_range.
func (c *portClaim) take(n int) ([]int, error) {
	if n == 0 {
		return nil, nil
	}
	candidates := portRange()
	first := rand.IntN(len(candidates))
	var out []int
	for i := 0; i < len(candidates) && len(out) < n; i++ {
		port := candidates[(first+i)%len(candidates)]
		ok, err := c.claim(port)
		if err != nil {
			c.release(out...)
			return nil, err
		}
		if ok {
			out = append(out, port)
		}
	}
	if len(out) < n {
		c.release(out...)
		return nil, fmt.Errorf("only %d of %d ports are free outside the range of outgoing connections", len(out), n)
	}
	return out, nil
}

func (c *portClaim) claim(port int) (bool, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("claiming a port: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@planrun/port/" + strconv.Itoa(port)})
	if err != nil {
		unix.Close(fd)
		if errors.Is(err, syscall.EADDRINUSE) {
			return false, nil
		}
		return false, fmt.Errorf("claiming port %d: %w", port, err)
	}
	if !isFree(port) {
		unix.Close(fd)
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = map[int]int{}
	}
	c.held[port] = fd
	return true, nil
}

// releaseAll gives every port up.
func (c *portClaim) releaseAll() {
	c.mu.Lock()
	ports := slices.Collect(maps.Keys(c.held))
	c.mu.Unlock()
	c.release(ports...)
}

func (c *portClaim) release(ports ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range ports {
		if fd, ok := c.held[p]; ok {
			unix.Close(fd)
			delete(c.held, p)
		}
	}
}

// isFree binds the port on every address: whoever listens on any of them is in the way. No process is started meanwhile:
// between fork and exec a child holds a copy of the listener, and the port would stay taken after it was closed here.
func isFree(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, addr := range []string{":", "127.0.0.1:"} { // the second where there is no IPv6 and as a check of the first
		l, err := net.Listen("tcp", addr+strconv.Itoa(port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

// portRange lists the ports that are given out: from 10000 on, without those of outgoing connections and without those
// that the administrator reserved.
func portRange() []int {
	low, high := 32768, 60999
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if f := strings.Fields(string(b)); len(f) == 2 {
			l, err1 := strconv.Atoi(f[0])
			h, err2 := strconv.Atoi(f[1])
			if err1 == nil && err2 == nil {
				low, high = l, h
			}
		}
	}
	var out []int
	for p := 10000; p <= 65535; p++ {
		if p < low || p > high {
			out = append(out, p)
		}
	}
	if len(out) < 1000 { // outgoing connections may take nearly everything: then below 10000, as a last resort
		for p := 1024; p < 10000; p++ {
			if p < low || p > high {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		for p := 10000; p <= 65535; p++ {
			out = append(out, p)
		}
	}
	return out
}

// portsFree makes sure that nobody listens on a port before the process that is to listen there is started: an answer on
// it would be taken for that process's. Live processes of the plan may share a port.
func (g *Group) portsFree(spec *task.ProcessSpec) error {
	for _, name := range slices.Sorted(maps.Keys(spec.Ports)) {
		port := spec.Ports[name]
		shared := slices.ContainsFunc(g.All(), func(p task.Process) bool {
			return slices.Contains(slices.Collect(maps.Values(p.Ports())), port)
		})
		if shared || isFree(port) {
			continue
		}
		by := "something that this user may not see"
		var holders []kernel.Stat
		for _, pid := range kernel.Listeners(port) {
			if s, ok := kernel.Read(pid); ok {
				holders = append(holders, s)
			}
		}
		if len(holders) > 0 {
			by = "process " + describe(holders)
		}
		return fmt.Errorf("port %s (127.0.0.1:%d) is in use by %s", name, port, by)
	}
	return nil
}
