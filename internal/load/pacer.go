package load

import "time"

const (
	spinBefore = 50 * time.Microsecond  // how long before a due time precise pacing stops sleeping
	napLength  = time.Millisecond       // between the sendings of economical pacing
	lookEach   = 200 * time.Microsecond // how often economical pacing looks for answers
	spinPause  = 5 * time.Second        // without spinning, after another thread wanted the CPU
	preempted  = 50                     // involuntary context switches in a second that show it
)

// A pacer decides how long the loop sleeps.
type pacer struct {
	pacing string
	open   bool // the loop is an open one
	clock  func() int64
	idle   int64 // when the loop last had nothing to do
	looked int64 // when the loop last found answers; 0 if it found none since it slept
	sends  int64 // when an economical loop sends next at the earliest

	spinning   bool // since the last tick
	spinAfter  int64
	switches   int64
	switchesOK bool
}

// newPacer prepares the calling thread, to which its loop must be locked.
func newPacer(j *job, clock func() int64) pacer {
	if j.Pacing == "precise" {
		sleepPrecisely()
	}
	return pacer{pacing: j.Pacing, open: len(j.Rate) > 0, clock: clock, idle: clock()}
}

// left is how long to sleep for what is to be done at a time.
func (p *pacer) left(until int64) int64 {
	if until == never {
		return never
	}
	now := p.clock()
	left, spin := nap(p.pacing, p.open, until-now, now >= p.spinAfter)
	p.spinning = p.spinning || spin
	return left
}

// at is when the loop sends what is due at a time: economical pacing sends together what becomes due in a while.
func (p *pacer) at(due int64) int64 { return max(due, p.sends) }

// sent is told when the loop has sent what was due.
func (p *pacer) sent(now int64) {
	if p.pacing == "economical" {
		p.sends = now + int64(napLength)
	}
}

// rest sleeps between two looks of an economical open loop, whatever arrives meanwhile: to wake for each answer costs more
// than all else.
func (p *pacer) rest(until int64) {
	if p.pacing != "economical" || !p.open || p.looked == 0 {
		return
	}
	now := p.clock()
	if left := min(until, p.looked+int64(lookEach)) - now; left > 0 {
		pause(left)
	}
	p.looked = 0
}

// nap is how long the loop sleeps when the next thing to do is left nanoseconds away, and whether it spins instead. A
// closed loop has nothing to be early for.
func nap(pacing string, open bool, left int64, mayspin bool) (sleep int64, spin bool) {
	switch {
	case left <= 0 || pacing == "busy":
		return 0, pacing == "busy"
	case !open || pacing == "economical" || !mayspin:
		return left, false
	case left > int64(spinBefore):
		return left - int64(spinBefore), false
	}
	return 0, true
}

// tick looks whether spinning took the CPU from others: a thread that spins beside another one that wants to run is
// switched off involuntarily, over and over. Then it stops spinning for a while.
func (p *pacer) tick() {
	if switches, ok := switchedOff(); ok {
		p.saw(switches)
	}
}

// saw takes how often this thread was switched off involuntarily so far.
func (p *pacer) saw(switches int64) {
	if p.switchesOK && p.spinning && p.pacing == "precise" && switches-p.switches > preempted {
		p.spinAfter = p.clock() + int64(spinPause)
	}
	p.switches, p.switchesOK, p.spinning = switches, true, false
}
