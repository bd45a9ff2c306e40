package verdict

import (
	"context"
	"time"
)

// Samples are the series and events of a run. They are too many to be kept of every run, so they are read when an
// expression asks for them. The methods may be called by several goroutines at once.
type Samples interface {
	// Series gives the series of that name; nil: the run has none.
	Series(name string) (*Series, error)
	// Events gives the events of a kind in order; watched is false where nothing watched for them.
	Events(kind string) (events []Event, watched bool, err error)
}

// A budget is a context that ends when an evaluation has taken EvalLimit, the time in which samples were read not counted: a
// slow disk does not decide a verdict.
type budget struct {
	context.Context
	timer *time.Timer
	end   time.Time
}

func newBudget(ctx context.Context) (*budget, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	b := &budget{ctx, time.AfterFunc(EvalLimit, cancel), time.Now().Add(EvalLimit)}
	return b, func() { b.timer.Stop(); cancel() }
}

// reading stops the budget's time while f reads. A nil budget has none.
func (b *budget) reading(f func()) {
	if b == nil || !b.timer.Stop() {
		f()
		return
	}
	left := time.Until(b.end)
	f()
	b.end = time.Now().Add(left)
	b.timer.Reset(left)
}
