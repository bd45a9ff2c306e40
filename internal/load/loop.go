package load

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A loop decides when the requests of one worker are due and gives them to its pool; it keeps the books of what became
// of them. All of it runs in one goroutine on a thread of its own; others reach it by do.
type loop struct {
	job    *job
	pool   *pool
	pacer  pacer
	ledger *ledger
	base   time.Time // the clock at 0

	k        int64          // index of the next request of an open loop
	nextDue  int64          // when it is due; never if there is none
	waiting  ring[*request] // due, without a connection
	spare    []*request
	users    int             // closed loop: requests that could become due
	pauses   queue[*request] // of users that could not connect
	pumping  bool
	nextRoll int64

	started  bool
	stopping bool
	drainEnd int64
	over     bool
	onOpened func(outcome) // while opening
	nextOpen int64         // when the next connection is opened, at a rate
	open     func()
	verified func(*request, outcome) // outcome of a verification

	early Second // what happened before time zero

	mu       sync.Mutex
	commands []func()
	closed   bool
	ended    chan struct{}

	zero                             atomic.Int64 // the clock at the start
	openNow, inFlightNow, waitingNow atomic.Int64
}

const never = math.MaxInt64

// newLoop makes a loop whose time is 0 now.
func newLoop(j *job) *loop {
	return &loop{
		job: j, base: time.Now(),
		ledger:  &ledger{spec: j, seen: map[string]bool{}, due: map[string]*int64{}, marks: []mark{{0, j.Phase}}, done: []Second{}},
		nextDue: never, nextRoll: never, drainEnd: never, nextOpen: never, ended: make(chan struct{}),
	}
}

func (l *loop) clock() int64 { return int64(time.Since(l.base)) }

// do runs f in the loop's goroutine soon; false if the loop has ended.
func (l *loop) do(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.commands = append(l.commands, f)
	l.pool.wire.wake()
	return true
}

// run is the loop. The goroutine keeps its thread, whose timer slack may have been changed, and ends it.
func (l *loop) run(prepare func() (*pool, error), prepared chan<- error) {
	runtime.LockOSThread()
	defer close(l.ended)
	var err error
	l.pool, err = prepare()
	prepared <- err
	if err != nil {
		return
	}
	l.pacer = newPacer(l.job, l.clock)
	for !l.over {
		l.obey()
		now := l.clock()
		if now >= l.pacer.at(l.nextDue) {
			l.arrive(now)
			l.pacer.sent(now)
		}
		if now >= l.nextRoll {
			l.roll(now)
		}
		if now >= l.pauses.next() {
			l.unpause(now)
		}
		if l.stopping && l.drained(now) {
			break
		}
		if !l.over {
			l.wait(min(l.pacer.at(l.nextDue), l.nextRoll, l.drainEnd, l.pauses.next(), l.nextOpen))
		}
	}
	l.over = true
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.pool.close()
	l.ledger.roll(l.clock(), true)
	l.publish()
}

// wait lets the pool handle what happens until a time; it returns early after anything happened.
func (l *loop) wait(until int64) {
	l.pool.flush()
	until = min(until, l.pool.until())
	l.pacer.rest(until)
	left := l.pacer.left(until)
	if l.started {
		left = min(left, int64(rawWait))
	}
	happened := l.pool.wire.poll(left)
	l.pool.touch()
	now := l.pool.now
	if !happened || left > 0 {
		l.pacer.idle = now
	}
	if happened {
		l.pacer.looked = now
	}
	l.pool.due()
	if now >= l.nextOpen {
		l.open()
	}
}

// obey runs the commands.
func (l *loop) obey() {
	l.mu.Lock()
	commands := l.commands
	l.commands = nil
	l.mu.Unlock()
	for _, f := range commands {
		f()
	}
}

// start is time zero.
func (l *loop) start() {
	now := l.clock()
	l.ledger.begins(now, l.early)
	l.started = true
	l.zero.Store(now)
	l.publish()
	l.nextRoll = now + int64(time.Second)
	if l.isOpen() {
		l.k = int64(l.job.Worker)
		l.schedule()
	} else {
		l.users = l.job.inFlight
	}
	l.pool.touch()
	l.freed()
	l.pool.flush()
}

func (l *loop) roll(now int64) {
	l.ledger.roll(now, false)
	l.pacer.tick()
	l.publish()
	l.nextRoll += int64(time.Second)
	if l.nextRoll <= now { // it stalled
		l.nextRoll = now + int64(time.Second)
	}
}

// publish makes the state readable elsewhere.
func (l *loop) publish() {
	open, inFlight := l.pool.opens, l.pool.inFlight
	l.openNow.Store(int64(open))
	l.inFlightNow.Store(int64(inFlight))
	l.waitingNow.Store(int64(l.waiting.size))
}

// control makes requests that are due from at (since the start) on belong to phase, and answers how many became due so far.
func (l *loop) control(at time.Duration, phase string) ControlReply {
	if !l.started { // the ledger moves its marks when the start is known
		l.ledger.switchPhase(int64(max(at, 0)), phase)
	} else {
		now := l.clock()
		l.arrive(now) // they were due before
		l.ledger.switchPhase(max(l.ledger.start+int64(at), now), phase)
	}
	r := ControlReply{Due: map[string]int64{}}
	for phase, n := range l.ledger.due {
		r.Due[phase] = *n
	}
	return r
}

// stop begins the drain: nothing becomes due any more; what is due has one timeout to be answered.
func (l *loop) stop() {
	if l.stopping {
		return
	}
	now := l.clock()
	if l.started {
		l.arrive(now)
	}
	l.stopping, l.nextDue = true, never
	l.drainEnd = now + int64(l.job.Timeout)
}

// drained tells whether the drain is over, and ends what is still open when its time has passed.
func (l *loop) drained(now int64) bool {
	if l.pool.inFlight == 0 && l.waiting.size == 0 {
		return true
	}
	if now < l.drainEnd {
		return false
	}
	l.abandon(now, "still open at the end of the load")
	return true
}

// abandon gives all open requests their outcome.
func (l *loop) abandon(now int64, reason string) {
	l.over = true
	for l.waiting.size > 0 {
		r := l.waiting.pop()
		l.ledger.finish(r, l.unsent(now, Timeout, reason+", and never sent"))
	}
	l.pool.expire(outcome{at: now, class: Timeout, reason: reason})
}
