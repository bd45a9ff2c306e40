package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/planrun/planrun/engine/diff"
)

// A runner makes result sets and compares them.
type runner struct {
	options
	out  io.Writer
	dir  string
	sets int
}

// set makes a result set of an nginx with so much work more for each request.
func (b *runner) set(ctx context.Context, work int) (string, error) {
	b.sets++
	dir := filepath.Join(b.dir, "set-"+strconv.Itoa(b.sets))
	c := exec.CommandContext(ctx, b.binary, "plan.yaml", "--out", dir, "--set", "work="+directives(work), "--set", "repeats="+strconv.Itoa(b.repeats), "--set", "measure="+b.measure.String())
	c.Dir = b.dir
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it takes back what it started
	if msg, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("running the plan: %w\n%s", err, msg)
	}
	return dir, nil
}

// pair makes two sets and compares the second kind with the first. The second kind is made first if swapped.
func (b *runner) pair(ctx context.Context, work int, swapped bool) (*pair, error) {
	works := []int{0, work}
	if swapped {
		works = []int{work, 0}
	}
	p := &pair{rows: map[string]diff.JSONRow{}}
	for i, n := range works {
		dir, err := b.set(ctx, n)
		if err != nil {
			return nil, err
		}
		p.dirs[i] = dir
	}
	if swapped {
		p.dirs[0], p.dirs[1] = p.dirs[1], p.dirs[0]
	}
	args := []string{"--format", "json"}
	for _, m := range metrics {
		args = append(args, "--metric", m.name)
	}
	text, err := b.diff(ctx, p, args...)
	if err != nil {
		return nil, err
	}
	var d diff.JSON
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading what diff says: %w", err)
	}
	for _, r := range d.Rows {
		if r.Ratio == nil || r.Floor == nil {
			return nil, fmt.Errorf("%s has no ratio or no noise floor: %s", r.Metric, r.Why)
		}
		p.rows[r.Metric] = r
	}
	for _, m := range metrics {
		if _, ok := p.rows[m.name]; !ok {
			return nil, fmt.Errorf("diff says nothing of %s", m.name)
		}
	}
	return p, nil
}

// diff compares a pair. The error of a gate that does not hold is an *exec.ExitError with code 1.
func (b *runner) diff(ctx context.Context, p *pair, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, b.binary, append([]string{"diff", p.dirs[0], p.dirs[1]}, args...)...)
	c.Stderr = &stderr
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("comparing: %w\n%s", err, &stderr)
	}
	return text, nil
}

// A tally of gated pairs.
type tally struct{ pairs, failed, undecided int }

func (t tally) String() string {
	s := fmt.Sprintf("%d of %d", t.failed, t.pairs)
	if t.undecided > 0 {
		s += fmt.Sprintf(" (%d not to be trusted)", t.undecided)
	}
	return s
}

// gated counts the pairs that do not pass a metric's gate, by the exit code of diff.
func (b *runner) gated(ctx context.Context, m metric, gate float64, pairs []*pair) (tally, error) {
	t := tally{pairs: len(pairs)}
	for _, p := range pairs {
		_, err := b.diff(ctx, p, "--metric", m.name, "--gate", fmt.Sprintf("ratio %s %.6f", m.sign(), gate))
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == 1:
			t.failed++
		case errors.As(err, &exit) && exit.ExitCode() == 3:
			t.undecided++
		case err != nil:
			return t, err
		}
	}
	return t, nil
}

// several makes pairs, and says what each came to.
func (b *runner) several(ctx context.Context, what string, n, work int) (out []*pair, err error) {
	for i := range n {
		r, err := b.pair(ctx, work, i%2 == 1)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b.out, "%s pair %d of %d:", what, i+1, n)
		for _, m := range metrics {
			fmt.Fprintf(b.out, "  %s %.3f (%s, floor %.3f)", m.name, *r.rows[m.name].Ratio, r.rows[m.name].Outcome, *r.rows[m.name].Floor)
		}
		fmt.Fprintln(b.out)
		out = append(out, r)
	}
	return out, nil
}

// tune finds how much work makes a request 5 % dearer: from the median of three pairs with 40 expressions more.
func (b *runner) tune(ctx context.Context) (int, error) {
	const try, want = 40, 0.05
	out, err := b.several(ctx, "tuning", 3, try)
	if err != nil {
		return 0, err
	}
	more := cpuTime.median(out) - 1
	if more <= 0 {
		return 0, fmt.Errorf("%d regular expressions more do not show (ratio %.3f): this machine is too busy", try, 1+more)
	}
	return max(1, int(math.Round(try*want/more))), nil
}

// A pair of result sets, and what diff says of the second against the first, by metric.
type pair struct {
	dirs [2]string
	rows map[string]diff.JSONRow
}
