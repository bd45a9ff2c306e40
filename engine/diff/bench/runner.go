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
	"strings"

	"github.com/planrun/planrun/engine/diff"
)

// A runner makes result sets and compares them.
type runner struct {
	options
	out  io.Writer
	dir  string
	made int // result sets
	redo int // pairs that were measured again
	kept int // disturbed ones that were not
}

// set makes a result set of an nginx with so much work more for each request. The exit code is that of its verdicts.
func (b *runner) set(ctx context.Context, work int) (dir string, exit int, err error) {
	b.made++
	dir = filepath.Join(b.dir, "set-"+strconv.Itoa(b.made))
	c := exec.CommandContext(ctx, b.binary, "plan.yaml", "--out", dir, "--set", "work="+directives(work), "--set", "repeats="+strconv.Itoa(b.repeats), "--set", "measure="+b.measure.String())
	c.Dir = b.dir
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it takes back what it started
	msg, err := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); ctx.Err() == nil && (code == 1 || code == 3) {
		return dir, code, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("running the plan: %w\n%s", err, msg)
	}
	return dir, 0, nil
}

// pair makes the sets of two sides in turns and compares the second with the first.
func (b *runner) pair(ctx context.Context, work int, swapped bool) (*pair, error) {
	p := &pair{order: inTurns(b.sets, swapped), rows: map[string]diff.JSONRow{}}
	for _, side := range p.order {
		dir, exit, err := b.set(ctx, side*work)
		if err != nil {
			return nil, err
		}
		if exit != 0 {
			p.disturbed = "requests failed in " + filepath.Base(dir)
		}
		p.dirs[side] = append(p.dirs[side], dir)
	}
	args := []string{"--format", "json", "--metric", foreign, "--metric", stolen, "--metric", hostSpeed}
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
		p.rows[r.Metric] = r
	}
	for _, m := range metrics {
		if r, ok := p.rows[m.name]; !ok || r.Ratio == nil || r.Floor == nil {
			return nil, fmt.Errorf("diff says no ratio of %s, or no noise floor: %s", m.name, r.Why)
		}
	}
	if p.disturbed == "" {
		p.disturbed = p.judge(b.foreign, b.apart)
	}
	return p, nil
}

// diff compares a pair. The error of a gate that does not hold is an *exec.ExitError with code 1.
func (b *runner) diff(ctx context.Context, p *pair, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, b.binary, append([]string{"diff", strings.Join(p.dirs[0], ","), strings.Join(p.dirs[1], ",")}, args...)...)
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

// several makes pairs, and says what each came to. A disturbed one is measured again, as long as there is left of -again.
func (b *runner) several(ctx context.Context, what string, n, work int) (out []*pair, err error) {
	for len(out) < n {
		p, err := b.pair(ctx, work, len(out)%2 == 1)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b.out, "%s pair %d of %d:", what, len(out)+1, n)
		for _, m := range metrics {
			r := p.rows[m.name]
			fmt.Fprintf(b.out, "  %s %.3f (%s, floor %.3f)", m.name, *r.Ratio, r.Outcome, *r.Floor)
		}
		switch {
		case p.disturbed == "":
			fmt.Fprintln(b.out)
		case b.redo < b.again:
			b.redo++
			fmt.Fprintf(b.out, "; disturbed, measured again: %s\n", p.disturbed)
			continue
		default:
			b.kept++
			fmt.Fprintf(b.out, "; disturbed, kept for there were %d already: %s\n", b.redo, p.disturbed)
		}
		out = append(out, p)
	}
	return out, nil
}

// tune finds how much work makes a request 5 % dearer, from pairs with so many expressions more that they show well.
func (b *runner) tune(ctx context.Context) (int, error) {
	const pairs, try, want = 3, 200, 0.05
	out, err := b.several(ctx, "tuning", pairs, try)
	if err != nil {
		return 0, err
	}
	more := cpuTime.median(out) - 1
	if more <= 0 {
		return 0, fmt.Errorf("%d regular expressions more do not show (ratio %.3f): this machine is too busy", try, 1+more)
	}
	return max(1, int(math.Round(try*want/more))), nil
}
