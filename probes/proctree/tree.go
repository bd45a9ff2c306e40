package proctree

import (
	"slices"
	"syscall"
)

const errNoSuchProcess = syscall.ESRCH

// A Tree follows a process with all its descendants. A process that was a member once stays one, also when its parent
// ended and init adopted it (a daemon, the new master of an nginx upgrade). The zero value is an empty tree.
//
// The time of a member that ended is kept: either its parent waited for it, and the kernel added it to what the parent
// reaped, or it is kept here. So the sum never goes backwards and nothing is counted twice. Where children of one parent
// end both ways between two scans, what was reaped is taken to be theirs first.
type Tree struct {
	members map[ID]*Process // as they were last seen
	kept    CPU
	sum     CPU
}

// Update takes the tree from a scan: the roots, the members that live, and their descendants. It returns the live members,
// by process id. Roots that are not there are left out; a root that is there again under another id (a restart) is added.
func (t *Tree) Update(s *Snapshot, roots ...int) []*Process {
	live := t.collect(s, roots)
	t.keep(live)
	var sum CPU
	for _, p := range live {
		sum = sum.add(p.Own).add(p.Reaped)
	}
	sum = sum.add(t.kept)
	// The kernel splits a process's time into user and kernel time by samples; a split may shift when it ends.
	back := t.sum.sub(sum).positive()
	t.kept = t.kept.add(back)
	t.sum = sum.add(back)
	t.members = live

	out := make([]*Process, 0, len(live))
	for _, p := range live {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Process) int { return a.PID - b.PID })
	return out
}

// CPU is the time that the tree used, ended members included, as of the last Update.
func (t *Tree) CPU() CPU { return t.sum }

func (t *Tree) collect(s *Snapshot, roots []int) map[ID]*Process {
	live := make(map[ID]*Process)
	queue := slices.Clone(roots)
	for id := range t.members {
		if p := s.byPID[id.PID]; p != nil && p.Start == id.Start {
			queue = append(queue, id.PID)
		}
	}
	for len(queue) > 0 {
		p := s.byPID[queue[0]]
		queue = queue[1:]
		if p == nil || live[p.ID] != nil {
			continue
		}
		live[p.ID] = p
		queue = append(queue, s.children[p.PID]...)
	}
	return live
}

// keep adds what ended members had used, as far as no live member reaped it.
func (t *Tree) keep(live map[ID]*Process) {
	owed := make(map[ID]CPU) // by the nearest ancestor that lives; the zero ID where none does
	byPID := make(map[int]*Process, len(t.members))
	for _, m := range t.members {
		byPID[m.PID] = m
	}
	for id, p := range t.members {
		if live[id] == nil {
			to := heir(p, byPID, live)
			owed[to] = owed[to].add(p.Own).add(p.Reaped)
		}
	}
	for id, cpu := range owed {
		if now, before := live[id], t.members[id]; now != nil && before != nil {
			cpu = cpu.sub(now.Reaped.sub(before.Reaped)).positive()
		}
		t.kept = t.kept.add(cpu)
	}
}

// heir is the nearest ancestor of p, by the last scan, that still lives.
func heir(p *Process, byPID map[int]*Process, live map[ID]*Process) ID {
	for range len(byPID) {
		p = byPID[p.Parent]
		if p == nil {
			break
		}
		if live[p.ID] != nil {
			return p.ID
		}
	}
	return ID{}
}
