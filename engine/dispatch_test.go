package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// A diary notes what steps do, in the bubble's time.
type diary struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf("%v ", time.Since(d.begin))+fmt.Sprintf(format, args...))
}

func (d *diary) takes(name string, t time.Duration) func(time.Duration) func(context.Context) error {
	return func(due time.Duration) func(context.Context) error {
		d.note("%s starts, due %v", name, due)
		return func(ctx context.Context) error {
			select {
			case <-time.After(t):
				return nil
			case <-ctx.Done():
				d.note("%s ends: %v", name, context.Cause(ctx))
				return ctx.Err()
			}
		}
	}
}

func TestTimedPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{begin: time.Now()}
		var beyond []*running
		steps := []*step{
			{index: 0, label: "load", lasting: true, through: "after", start: d.takes("load", time.Hour)},
			{index: 1, label: "fault", lasting: true, due: 2 * time.Second, lasts: 3 * time.Second, start: d.takes("fault", time.Hour)},
			{index: 2, label: "b", due: 4 * time.Second, start: d.takes("b", time.Millisecond)},
			{index: 3, label: "a", due: 4 * time.Second, start: d.takes("a", time.Millisecond)},
			// takes longer than its interval: it never overlaps itself, and its due times stay
			{index: 4, label: "tick", every: 3 * time.Second, start: d.takes("tick", 4*time.Second)},
			{index: 5, label: "own", lasting: true, due: 9 * time.Second, start: d.takes("own", time.Hour)},
		}
		x := &dispatcher{ctx: t.Context(), length: 10 * time.Second, steps: steps, outlives: func(r *running) { beyond = append(beyond, r) }}
		why, err := x.run()
		if why != "" || err == nil || !strings.Contains(err.Error(), "tick: it was still running") {
			t.Fatalf("%q, %v", why, err)
		}
		if got := time.Since(d.begin); got != 10*time.Second {
			t.Errorf("the phase took %v", got)
		}
		for _, r := range beyond {
			r.stop(task.ErrPhaseOver)
		}
		want := []string{"0s load starts, due 0s", "0s tick starts, due 0s", "2s fault starts, due 2s", "4s b starts, due 4s", "4s a starts, due 4s",
			"4s tick starts, due 3s", "5s fault ends: the phase is over", "8s tick starts, due 6s", "9s own starts, due 9s"}
		got := slices.Clone(d.lines)
		if !slices.Equal(got[:len(want)], want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestEqualDueTimesKeepFileOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{begin: time.Now()}
		var steps []*step
		for i := range 20 {
			steps = append(steps, &step{index: i, label: fmt.Sprint(i), due: time.Second, start: d.takes(fmt.Sprint(i), 0)})
		}
		slices.Reverse(steps)
		if _, err := (&dispatcher{ctx: t.Context(), length: 2 * time.Second, steps: steps}).run(); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprintf("1s %d starts, due 1s", i))
		}
		if !slices.Equal(d.lines, want) {
			t.Errorf("got %q", d.lines)
		}
	})
}

func TestNoDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var starts []time.Duration
		s := &step{label: "t", due: 100 * time.Millisecond, every: 700 * time.Millisecond, start: func(time.Duration) func(context.Context) error {
			starts = append(starts, time.Since(begin))
			return func(context.Context) error { time.Sleep(300 * time.Millisecond); return nil }
		}}
		if _, err := (&dispatcher{ctx: t.Context(), length: 70 * time.Second, steps: []*step{s}}).run(); err != nil {
			t.Fatal(err)
		}
		for i, at := range starts {
			if want := 100*time.Millisecond + time.Duration(i)*700*time.Millisecond; at != want {
				t.Fatalf("occurrence %d at %v, want %v", i, at, want)
			}
		}
		if len(starts) != 100 {
			t.Errorf("%d occurrences, want 100", len(starts))
		}
	})
}

func TestEndsOfAPhase(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name, why, err string
		after          time.Duration
		spoil          func(stop chan string, broken chan error, cancel context.CancelCauseFunc)
	}{
		{"until", "until p99_ms < 5", "", 3 * time.Second, func(stop chan string, _ chan error, _ context.CancelCauseFunc) { stop <- "until p99_ms < 5" }},
		{"an earlier load breaks", "", "boom", 3 * time.Second, func(_ chan string, broken chan error, _ context.CancelCauseFunc) { broken <- boom }},
		{"interrupt", "", "boom", 3 * time.Second, func(_ chan string, _ chan error, cancel context.CancelCauseFunc) { cancel(boom) }},
		{"its time", "", "", 10 * time.Second, func(chan string, chan error, context.CancelCauseFunc) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				stop, broken := make(chan string, 1), make(chan error, 1)
				time.AfterFunc(3*time.Second, func() { c.spoil(stop, broken, cancel) })
				begin, ended := time.Now(), false
				s := &step{label: "load", lasting: true, start: func(time.Duration) func(context.Context) error {
					return func(ctx context.Context) error { <-ctx.Done(); ended = true; return nil }
				}}
				why, err := (&dispatcher{ctx: ctx, length: 10 * time.Second, steps: []*step{s}, stop: stop, broken: broken}).run()
				if why != c.why || fmt.Sprint(err) != c.err && (c.err != "" || err != nil) {
					t.Errorf("%q, %v", why, err)
				}
				if !ended || time.Since(begin) != c.after {
					t.Errorf("ended %v after %v", ended, time.Since(begin))
				}
			})
		})
	}
}

// What is not due before its phase ends is told, whatever ended it; what an error ended had no time for anything.
func TestNeverDue(t *testing.T) {
	for why, want := range map[string]string{"": "at the end", "until": "late, at the end", "error": ""} {
		synctest.Test(t, func(t *testing.T) {
			d := &diary{begin: time.Now()}
			stop, broken := make(chan string, 1), make(chan error, 1)
			switch why {
			case "until":
				time.AfterFunc(3*time.Second, func() { stop <- why })
			case "error":
				time.AfterFunc(3*time.Second, func() { broken <- errors.New("boom") })
			}
			phase := &dispatcher{ctx: t.Context(), length: 10 * time.Second, stop: stop, broken: broken, steps: []*step{
				{index: 0, label: "often", every: 2 * time.Second, start: d.takes("often", 0)},
				{index: 1, label: "late", due: 5 * time.Second, start: d.takes("late", 0)},
				{index: 2, label: "at the end", due: 10 * time.Second, start: d.takes("at the end", 0)}}}
			phase.run()
			var got []string
			for _, s := range phase.never {
				got = append(got, s.label)
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%q: %q, want %q", why, got, want)
			}
		})
	}
}

func TestSequentialPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{begin: time.Now()}
		steps := []*step{{index: 0, label: "x", start: d.takes("x", time.Second)}, {index: 1, label: "load", lasting: true, lasts: 2 * time.Second, start: d.takes("load", time.Hour)},
			{index: 2, label: "y", start: d.takes("y", time.Second)}}
		if _, err := (&dispatcher{ctx: t.Context(), steps: steps}).run(); err != nil {
			t.Fatal(err)
		}
		want := "0s x starts, due 0s\n1s load starts, due 0s\n3s load ends: the phase is over\n3s y starts, due 0s"
		if got := strings.Join(d.lines, "\n"); got != want {
			t.Errorf("got\n%s", got)
		}
	})
}
