package proctree

import (
	"math"
	"os"
	"testing"
)

// p is a process by id, parent, its own time and what it reaped.
func p(pid, parent int, own, reaped float64) *Process {
	return &Process{ID: ID{pid, uint64(pid)}, Parent: parent, Own: CPU{User: own}, Reaped: CPU{User: reaped}}
}

func scan(ps ...*Process) *Snapshot {
	s := &Snapshot{byPID: map[int]*Process{}, children: map[int][]int{}}
	for _, p := range ps {
		s.add(p)
	}
	return s
}

// Process 1 is everybody's, 10 the root.
func TestTree(t *testing.T) {
	again := p(11, 1, 50, 0) // process id 11 used again
	again.Start = 99
	for _, c := range []struct {
		name  string
		scans []*Snapshot
		want  []float64
		alive int
	}{
		{"others do not count", []*Snapshot{scan(p(1, 0, 100, 100), p(10, 1, 1, 0), p(20, 1, 7, 0))}, []float64{1}, 1},
		{"grandchildren count", []*Snapshot{scan(p(10, 1, 1, 0), p(11, 10, 2, 0), p(12, 11, 3, 0))}, []float64{6}, 3},
		{"a child that is reaped is counted once", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 0)),
			scan(p(10, 1, 1.5, 2.25)),
			scan(p(10, 1, 2, 2.25))}, []float64{3, 3.75, 4.25}, 1},
		{"a child that nobody reaped is kept", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 0)),
			scan(p(10, 1, 1.5, 0))}, []float64{3, 3.5}, 1},
		{"children that no scan saw come with what was reaped", []*Snapshot{
			scan(p(10, 1, 1, 0)),
			scan(p(10, 1, 1, 8))}, []float64{1, 9}, 1},
		{"a whole branch is reaped", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 1), p(12, 11, 3, 0)),
			scan(p(10, 1, 1, 6))}, []float64{7, 7}, 1},
		{"an adopted child stays", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 0)),
			scan(p(11, 1, 3, 0)),
			scan(p(11, 1, 4, 0), p(13, 11, 5, 0))}, []float64{3, 4, 10}, 2},
		{"all end", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 0)),
			scan(p(1, 0, 100, 3))}, []float64{3, 3}, 0},
		{"a process id that is used again is another process", []*Snapshot{
			scan(p(10, 1, 1, 0), p(11, 10, 2, 0)),
			scan(p(10, 1, 1, 2), again)}, []float64{3, 3}, 1},
		{"a split that shifts back does not show", []*Snapshot{
			scan(p(10, 1, 2, 0)),
			scan(p(10, 1, 1.9, 0)),
			scan(p(10, 1, 2.9, 0))}, []float64{2, 2, 3}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tree Tree
			var live []*Process
			for i, s := range c.scans {
				live = tree.Update(s, 10)
				if got := tree.CPU().Total(); math.Abs(got-c.want[i]) > 1e-9 {
					t.Errorf("scan %d: %v s, want %v", i+1, got, c.want[i])
				}
			}
			if len(live) != c.alive {
				t.Errorf("%d live, want %d", len(live), c.alive)
			}
		})
	}
}

func TestTreeGoesOnUnderAnotherRoot(t *testing.T) {
	var tree Tree
	tree.Update(scan(p(10, 1, 5, 0)), 10)
	tree.Update(scan(p(30, 1, 1, 0)), 30)
	if got := tree.CPU().Total(); got != 6 {
		t.Errorf("%v s, want 6", got)
	}
}

func TestScanSeesThisProcess(t *testing.T) {
	var c Cache
	s, err := c.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Get(1e18); err != nil || again != s {
		t.Errorf("another scan within its age: %v", err)
	}
	if again, err := c.Get(-1); err != nil || again == s {
		t.Errorf("no new scan: %v", err)
	}
	me := s.Get(os.Getpid())
	if me == nil || me.RSS < 1<<20 || me.Threads < 2 || me.Kernel || me.Zombie {
		t.Errorf("this process is %+v", me)
	}
	if n, err := Descriptors(os.Getpid()); err != nil || n < 3 {
		t.Errorf("%d descriptors: %v", n, err)
	}
	if _, err := Descriptors(1 << 30); !Gone(err) {
		t.Errorf("a process that is not there: %v", err)
	}
}
