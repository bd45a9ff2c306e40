package verdict

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Cause says of what kind a missing value is. Higher causes decide over lower ones.
type Cause uint8

const (
	Undefined   Cause = iota // NaN, a zero denominator, an empty list, an index out of range
	Missing                  // no data
	TooFew                   // fewer runs than planned
	Stopped                  // a run that ended inconclusive: its require did not hold
	Deadline                 // the evaluation took too long
	Unsupported              // a cell that is skipped, or a metric that the target lacks
	Broken                   // the harness failed: an install, an action
)

// Reason is why there is no value. It is the only error of an evaluation.
type Reason struct {
	Cause Cause
	Text  string
}

func (r *Reason) Error() string { return r.Text }

func because(c Cause, format string, args ...any) ref.Val {
	return types.WrapErr(&Reason{c, fmt.Sprintf(format, args...)})
}
func undefined(format string, args ...any) ref.Val { return because(Undefined, format, args...) }
func missing(format string, args ...any) ref.Val   { return because(Missing, format, args...) }

// reasonOf takes the reason out of an error; errors of CEL itself (no such key, index out of bounds) are Undefined.
func reasonOf(err error) *Reason {
	var r *Reason
	if errors.As(err, &r) {
		return r
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, interpreter.InterruptError{}) {
		return &Reason{Deadline, fmt.Sprintf("not evaluated within %v", EvalLimit)}
	}
	if strings.HasPrefix(err.Error(), "no such overload") { // its type showed only when it was read
		return &Reason{Undefined, "a value is of another type than the expression needs"}
	}
	return &Reason{Undefined, err.Error()}
}

// worse gives the reason that decides.
func worse(a, b *Reason) *Reason {
	if a == nil || b != nil && b.Cause > a.Cause {
		return b
	}
	return a
}
