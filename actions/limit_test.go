package actions

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
)

// A limit says how often it was reached, and that it never was.
func TestLimitReached(t *testing.T) {
	for _, tc := range []struct {
		l    limit
		p    proc.Pressure
		want string
	}{
		{limit{CPU: 1}, proc.Pressure{Periods: 30, HeldBack: 4}, "the limit was set and read back: its CPUs were used up in 4 of 30 periods"},
		{limit{CPU: 1}, proc.Pressure{Periods: 30}, "the limit was set and read back, but never reached: its CPUs were never used up"},
		{limit{Memory: 1, Processes: 1}, proc.Pressure{MemoryReached: 9}, "the limit was set and read back: its memory was used up 9 times, and the kernel killed 0 processes for want of it; no process more was refused"},
		{limit{Memory: 1, Processes: 1}, proc.Pressure{ForksRefused: 2}, "the limit was set and read back: its memory was never used up; 2 more processes were refused"},
	} {
		if got := tc.l.seen(tc.p); got != tc.want {
			t.Errorf("%+v: %q", tc.p, got)
		}
	}
}

// That a limit was never reached is said of one that was in force.
func TestLimitEffect(t *testing.T) {
	l, reached := &limit{CPU: 1}, proc.Pressure{Periods: 3, HeldBack: 1}
	for _, c := range []struct {
		unfelt    string
		p         proc.Pressure
		unreached bool
	}{
		{"", proc.Pressure{}, true}, {"", reached, false}, {"it was under another", proc.Pressure{}, false}, {"it was under another", reached, false},
	} {
		e := l.effect(c.unfelt, c.p)
		if e.Unfelt != c.unfelt || e.Unreached != c.unreached || (e.Seen == "") != (c.unfelt != "") {
			t.Errorf("%q, %+v: %+v", c.unfelt, c.p, e)
		}
	}
}

// limited is a process under limits.
type limited struct {
	task.Process
	under  task.Limits
	exited chan struct{}
}

func (*limited) Name() string              { return "a" }
func (*limited) Replica() int              { return 3 }
func (l *limited) Exited() <-chan struct{} { return l.exited }
func (l *limited) Limited() task.Limits    { return l.under }
func (*limited) Cgroup() string            { return "" }

func (*limited) Limit(task.Journal, task.Limits) (*proc.Changed, error) { panic("not asked for") }

// A limit that does not read back as it was asked for is not in force, of processes that live.
func TestLimitIsReadBack(t *testing.T) {
	over := make(chan struct{})
	close(over)
	l := &limit{CPU: 0.5}
	for want, p := range map[string]*limited{
		"": {under: task.Limits{CPU: 0.5}}, " ": {exited: over},
		"a/3 was under other limits then, as the kernel says: 2 CPUs": {under: task.Limits{CPU: 2}},
		"a/3 was under other limits then, as the kernel says: none":   {},
	} {
		if got := l.unheld([]task.Process{p}, "then"); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
