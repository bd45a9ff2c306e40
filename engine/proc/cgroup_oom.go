package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lookForKills is how often a cgroup is asked for kills. Who is killed may be any process in it, also one of many.
const lookForKills = 200 * time.Millisecond

// watch tells of kills for want of memory until the cgroup is to be removed.
func (c *cgroup) watch() {
	look := time.NewTicker(lookForKills)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-c.over:
			return
		}
		c.mu.Lock()
		if !c.ending {
			c.tellKills()
		}
		c.mu.Unlock()
	}
}

// tellKills tells of those that nobody was told of. c.mu is held.
func (c *cgroup) tellKills() {
	if c.tell == nil {
		return
	}
	if n := c.countKills(); n > c.told {
		c.tell(n - c.told)
		c.told = n
	}
}

// oomKills is how many processes of the cgroup the kernel has killed for want of memory since the previous call.
func (c *cgroup) oomKills() int {
	if c == nil || c.memory == "" {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.countKills()
	since := n - c.kills
	c.kills = n
	return since
}

// countKills reads how many there were; as many as were known, if that cannot be read. c.mu is held.
func (c *cgroup) countKills() int {
	for _, file := range []string{"memory.events", "memory.oom_control"} { // version 2, version 1
		if n, ok := counterIn(filepath.Join(c.memory, file), "oom_kill"); ok {
			return int(n)
		}
	}
	return max(c.kills, c.told)
}

// counterIn reads a file of lines "NAME NUMBER".
func counterIn(path, name string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
