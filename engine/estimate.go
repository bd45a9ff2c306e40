package engine

import (
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/planrun/planrun/engine/task"
)

func itoa(i int) string { return strconv.Itoa(i) }

// estimate is how long one run of a cell takes at most with its cross-checks, as far as its phases say; what ends by itself
// counts as nothing.
func (c *Cell) estimate() time.Duration {
	sum, phases := time.Duration(0), c.Scenario.Val.Phases
	for i, p := range phases {
		for k := range p.Val.Do {
			sum += crossCheckTime(&p.Val.Do[k], lasts(&p.Val.Do[k], p.Val.For, phases[i:]))
		}
		sum += p.Val.For
		if p.Val.For == 0 {
			for _, a := range p.Val.Do {
				sum += a.Val.For
			}
		}
	}
	return sum
}

// Length is how long one run of the cell takes at most with its cross-checks, as far as its phases say, without installing
// and draining.
func (c *Cell) Length() time.Duration { return c.estimate() }

// estimate is how long the whole plan takes, without installing.
func (p *Program) estimate() time.Duration {
	sum := time.Duration(0)
	for _, s := range p.Stages {
		for _, c := range s.Cells {
			if c.LeftOut == "" && c.Unsupported == "" {
				sum += c.estimate() * time.Duration(max(1, c.Repeats)*max(1, s.Rounds))
			}
		}
	}
	return sum
}

// A Line is one action of the timeline, for `planrun show`.
type Line struct {
	Phase         string
	PhaseKind     string
	PhaseFor      time.Duration // 0: it ends with its last action
	At            time.Duration // since the phase began
	Every         time.Duration
	Lasts         time.Duration // 0: to the end of its phase or of Through, or not known
	Through, Kind string
	Name          string
	Where         string
	Open          []string // expressions that only running will evaluate
	Requests      float64  // that an open loop will send; 0 for others
	Needs         task.Needs
	CrossChecks   []string      // generators that do the same after the phases, one after another
	CheckFor      time.Duration // how long each of them takes at most
}

// Timeline lists what one run of the cell does, in order. Phases without actions have a line without a Kind.
func (c *Cell) Timeline() (out []Line) {
	phases := c.Scenario.Val.Phases
	for i, p := range phases {
		head := Line{Phase: p.Val.Name, PhaseKind: p.Val.Kind, PhaseFor: p.Val.For}
		if len(p.Val.Do) == 0 {
			out = append(out, head)
		}
		for j := range p.Val.Do {
			a := &p.Val.Do[j]
			l := head
			l.At, l.Every, l.Lasts, l.Through, l.Kind, l.Name, l.Where = a.Val.At.In(p.Val.For), a.Val.Every, a.Val.For, a.Val.Through, a.Val.Kind, actionName(a), a.Pos().String()
			for _, h := range a.Holes() {
				l.Open = append(l.Open, h.Text)
			}
			if d, ok := a.Val.Spec.(task.Declarer); ok {
				l.Needs = d.Declares().Needs
			}
			if x, ok := a.Val.Spec.(crossChecked); ok {
				if l.CrossChecks, _ = x.CrossChecks(); len(l.CrossChecks) > 0 {
					l.CheckFor = checkLength(lasts(a, p.Val.For, phases[i:]))
				}
			}
			if r, ok := a.Val.Spec.(interface{ RequestsWithin(time.Duration) float64 }); ok {
				if length := lasts(a, p.Val.For, phases[i:]); length > l.At {
					l.Requests = r.RequestsWithin(length - l.At)
				}
			}
			out = append(out, l)
		}
	}
	return out
}

// Install lists the actions that install the cell's target.
func (c *Cell) Install() (out []Line) {
	for i := range c.Target.Val.Install {
		a := &c.Target.Val.Install[i]
		l := Line{Phase: "install", Kind: a.Val.Kind, Name: actionName(a), Where: a.Pos().String()}
		for _, h := range a.Holes() {
			l.Open = append(l.Open, h.Text)
		}
		out = append(out, l)
	}
	return out
}

// Takes is what a plan takes in all, as far as that is known before it runs.
type Takes struct {
	Runs        int
	Time        time.Duration
	Checks      time.Duration // of it, at most, cross-checks
	Requests    float64       // of open loops
	Connections int           // of the loads of one run, at most
	Open        int           // runs' phases whose length is not known
}

// Takes adds up what the plan's runs take.
func (p *Program) Takes() (t Takes) {
	for _, s := range p.Stages {
		for _, c := range s.Cells {
			if c.LeftOut != "" || c.Unsupported != "" {
				continue
			}
			n := max(1, c.Repeats) * max(1, s.Rounds)
			t.Runs += n
			t.Time += c.estimate() * time.Duration(n)
			connections := 0
			for _, l := range c.Timeline() {
				t.Requests += l.Requests * float64(n)
				connections += l.Needs.Connections
				t.Checks += l.CheckFor * time.Duration(len(l.CrossChecks)*n)
			}
			for _, ph := range c.Scenario.Val.Phases {
				if ph.Val.For == 0 {
					t.Open += n
				}
			}
			t.Connections = max(t.Connections, connections)
		}
	}
	return t
}

// A Needed is a program that cells of a target run; Path is empty if it is not on PATH. Without an optional one they do less.
type Needed struct {
	Name, Target, Path string
	Optional           bool
}

// Programs lists the programs that the plan's targets, backends and scenarios run.
func (p *Program) Programs() (out []Needed) {
	for _, c := range p.Cells {
		add := func(names []string, optional bool) {
			for _, name := range names {
				n := Needed{Name: name, Target: c.Coord.Target, Optional: optional}
				n.Path, _ = exec.LookPath(name) // a relative path is judged by check, which knows where it was written
				if !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
		add(c.declared.programs, false)
		add(c.declared.further, false)
		add(c.declared.extras, true)
	}
	return out
}
