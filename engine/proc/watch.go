package proc

import (
	"fmt"
	"os"
	"syscall"
)

// watch waits for the end of the process, and of the daemons that took its place, and tells about it.
func (p *Process) watch(first *os.Process) {
	state, err := first.Wait()
	children.forget(first.Pid)
	status := "it could not be waited for"
	ok := false
	if err == nil {
		status, ok = state.String(), state.Success()
	}
	for ok && p.spec.Builtin == "" && !p.spec.Once {
		next := p.daemon()
		if next == nil {
			break
		}
		ws := <-next
		status, ok = describeStatus(ws), ws.Exited() && ws.ExitStatus() == 0
	}
	if n := p.cgroup.oomKills(); n > 0 {
		status += oomMark
	}
	p.mu.Lock()
	p.status, p.expected = status, p.wanted || p.spec.Once
	expected := p.expected
	p.mu.Unlock()
	close(p.exited)
	if p.spec.OnExit != nil {
		p.spec.OnExit(status, expected)
	}
}

// oomMark ends the status of a process in whose cgroup the kernel killed for want of memory.
const oomMark = " (out of memory: the kernel killed in its cgroup)"

// daemon looks for an orphan that the ended process left behind, and goes on with it as the process. It is nil if there
// is none, or the process is being stopped.
func (p *Process) daemon() <-chan syscall.WaitStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted {
		return nil
	}
	tree, err := p.id.tree(p.seen)
	if err != nil {
		return nil
	}
	for _, s := range tree {
		if s.PPID != selfPID {
			continue
		}
		ended, ok := children.adopt(s)
		if !ok {
			continue
		}
		p.id.PID, p.id.Begun = s.PID, s.Start
		if e, err := p.group.opts.Journal.Add(kindProcess, &p.id); err == nil {
			p.entries = append(p.entries, e)
		} else {
			p.group.m.opts.Log.Warn("the journal did not take the id of a daemon; its first entry finds it", "process", p.String(), "error", err)
		}
		return ended
	}
	return nil
}

func describeStatus(ws syscall.WaitStatus) string {
	switch {
	case ws.Exited():
		return fmt.Sprintf("exit status %d", ws.ExitStatus())
	case ws.Signaled() && ws.CoreDump():
		return "signal: " + ws.Signal().String() + " (core dumped)"
	case ws.Signaled():
		return "signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("status %#x", uint32(ws))
}

// remember keeps who is in the tree now: a daemon may leave all other traces behind.
func (p *Process) remember() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.id.tree(p.seen)
}
