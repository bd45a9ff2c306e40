package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/record"
)

// An error of a step says its name and one place: its own, or that of the action within it that failed.
func TestErrorsSayTheirPlaceOnce(t *testing.T) {
	own, inner := diag.Pos{File: "p.yaml", Line: 12, Col: 3}, diag.Pos{File: "p.yaml", Line: 14, Col: 7}
	boom := errors.New("boom")
	does := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	for name, tc := range map[string]struct {
		begin  error // of what it prepares
		run    func(context.Context) error
		length time.Duration
		want   string
	}{
		"of no place":        {nil, does(boom), 0, "x: p.yaml:12:3: boom"},
		"of its own place":   {nil, does(place(own, boom)), 0, "x: p.yaml:12:3: boom"},
		"of an inner action": {nil, does(fmt.Errorf("y: %w", place(inner, boom))), 0, "x: y: p.yaml:14:7: boom"},
		"too late": {nil, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, time.Second,
			"x: p.yaml:12:3: " + errStillRunning.Error()},
		"of its preparation": {place(own, boom), nil, 0, "x: p.yaml:12:3: boom"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &step{label: "x", pos: own, start: func(time.Duration) func(context.Context) error { return tc.run },
				prepare: does(tc.begin)}
			_, err := (&dispatcher{ctx: t.Context(), length: tc.length, steps: []*step{s}}).run()
			if fmt.Sprint(err) != tc.want {
				t.Errorf("%s: %v, want %s", name, err, tc.want)
			}
			text, where := unplaced(err)
			if strings.Contains(text, "p.yaml") || !strings.Contains(tc.want, where+": ") || strings.Replace(tc.want, where+": ", "", 1) != text {
				t.Errorf("%s: %q at %q", name, text, where)
			}
		})
	}
	if text, where := unplaced(boom); text != "boom" || where != "" {
		t.Errorf("of no place: %q at %q", text, where)
	}
}

func TestReasonOf(t *testing.T) {
	for _, tc := range []struct{ reason, where, want string }{
		{"x: boom", "p.yaml:12:3", "p.yaml:12:3: x: boom"},
		{"x: p.yaml:12:3: boom", "p.yaml:12:3", "x: p.yaml:12:3: boom"}, // as earlier records have it
		{"boom", "", "boom"},
	} {
		if got := reasonOf(&record.Run{Reason: tc.reason, Where: tc.where}); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
