// Bench finds out how often `planrun diff` raises a false alarm, and how often it finds a small slowdown. It is `make
// bench-diff`; docs/benchmarks/diff.md says how to read what it prints.
//
//  1. Five pairs of result sets of the same nginx (A/A) tell the noise: a metric's gate is the largest noise floor or
//     difference that diff saw in them.
//  2. Ten other A/A pairs are compared with that gate. Each that does not pass is a false alarm.
//  3. Ten pairs whose second set has an nginx with a little more work per request are compared with the same gate.
//
// The two sets of a pair follow one another, and take turns in being the first.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/planrun/planrun/plans"
)

//go:embed plan.yaml
var plan []byte

type options struct {
	calibrate, pairs int
	repeats          int
	measure          time.Duration
	work             int
	binary           string
	keep             string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-diff:", err)
		stop()
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench-diff", flag.ContinueOnError)
	f.IntVar(&o.calibrate, "calibrate", 5, "A/A pairs that the gate is chosen from")
	f.IntVar(&o.pairs, "pairs", 10, "A/A pairs that it is tried on, and as many with the slowdown")
	f.IntVar(&o.repeats, "repeats", 5, "runs of a result set")
	f.DurationVar(&o.measure, "measure", 2*time.Second, "of a run")
	f.IntVar(&o.work, "work", 0, "regular expressions that the slow nginx tries more for each request; 0: tuned to 5 % of its CPU time first")
	f.StringVar(&o.binary, "planrun", "", "the planrun to use, instead of one that is built for it")
	f.StringVar(&o.keep, "keep", "", "keep the result sets in this directory")
	if err = f.Parse(args); err == nil && f.NArg() > 0 {
		err = fmt.Errorf("what is %q?", f.Arg(0))
	}
	if err == nil && (o.calibrate < 1 || o.pairs < 1) {
		err = fmt.Errorf("at least one pair of each kind is needed")
	}
	return o, err
}

func bench(ctx context.Context, args []string, w io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	b := &runner{options: o, out: w}
	if o.keep != "" {
		if b.dir, err = filepath.Abs(o.keep); err != nil {
			return err
		}
	} else {
		if b.dir, err = os.MkdirTemp("", "bench-diff-"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	if err := os.CopyFS(b.dir, plans.FS); err != nil { // it has the targets
		return fmt.Errorf("writing the shipped plans: %w", err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "plan.yaml"), plan, 0o644); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	if b.binary == "" {
		b.binary = filepath.Join(b.dir, "planrun")
		if msg, err := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "github.com/planrun/planrun/cmd/planrun").CombinedOutput(); err != nil {
			return fmt.Errorf("building planrun: %w\n%s", err, msg)
		}
	}
	if b.work == 0 {
		if b.work, err = b.tune(ctx); err != nil {
			return err
		}
	}
	noise, err := b.several(ctx, "A/A", o.calibrate, 0)
	if err != nil {
		return err
	}
	same, err := b.several(ctx, "A/A", o.pairs, 0)
	if err != nil {
		return err
	}
	slow, err := b.several(ctx, "slower", o.pairs, b.work)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe slow nginx tries %d regular expressions more for each request.\n\n", b.work)
	fmt.Fprintln(w, "| metric | gate | false alarms | slowdown found | its median ratio | diff says worse: A/A | diff says worse: slower |\n|:--|--:|--:|--:|--:|--:|--:|")
	for _, m := range metrics {
		g := gateOf(m, noise)
		alarms, err := b.gated(ctx, m, g, same)
		if err != nil {
			return err
		}
		found, err := b.gated(ctx, m, g, slow)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | ratio %s %.3f | %v | %v | %.3f | %d of %d | %d of %d |\n", m.name, m.sign(), g, alarms, found, m.median(slow),
			m.worse(same), len(same), m.worse(slow), len(slow))
	}
	return nil
}

// directives have nginx try n regular expressions, none of which holds, for each request.
func directives(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `if ($request_uri ~ "^/(a|b|c)*small[0-9]+%d$") { return 404; } `, i+1)
	}
	return b.String()
}
