package proc

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/proc/kernel"
)

// children are the processes whose parent this process is. Those that it started and those that it watches have somebody
// who waits for them; orphans that it inherited are waited for here, or their zombies would stay.
var children childTable

type childTable struct {
	once sync.Once
	mu   sync.Mutex
	own  map[int]bool // somebody waits for them
}

func (c *childTable) start() {
	c.once.Do(func() {
		c.mu.Lock()
		c.own = map[int]bool{}
		c.mu.Unlock()
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go func() {
			for range ended {
				c.reap()
				time.Sleep(20 * time.Millisecond) // many end at once
			}
		}()
	})
}

// spawn starts a child whose zombie is not taken from its Wait.
func (c *childTable) spawn(start func() (*os.Process, error)) (*os.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := start()
	if err == nil {
		c.own[p.Pid] = true
	}
	return p, err
}

// forget is called when a child was waited for.
func (c *childTable) forget(pid int) {
	c.mu.Lock()
	delete(c.own, pid)
	c.mu.Unlock()
}

// reap waits for dead orphans. Children that other code of this process started are recognised by its session, which
// everything that is started here has left.
func (c *childTable) reap() {
	session, err := unix.Getsid(0)
	if err != nil {
		return
	}
	all, err := kernel.List()
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range all {
		if s.PPID == selfPID && s.Dead() && s.Session != session && !c.own[s.PID] {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(s.PID, &status, syscall.WNOHANG, nil)
		}
	}
}

// adopt waits for an orphan that this process inherited, and gives its status when it ends; false if it is not ours to
// wait for (any more).
func (c *childTable) adopt(s kernel.Stat) (<-chan syscall.WaitStatus, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ok := kernel.Read(s.PID)
	if !ok || now.Start != s.Start || now.PPID != selfPID || c.own[s.PID] {
		return nil, false
	}
	c.own[s.PID] = true
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		defer c.forget(s.PID)
		for {
			var status syscall.WaitStatus
			_, err := syscall.Wait4(s.PID, &status, 0, nil)
			if err == syscall.EINTR {
				continue
			}
			ended <- status
			return
		}
	}()
	return ended, true
}
