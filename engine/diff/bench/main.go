// Bench finds out how often `planrun diff` raises a false alarm, and how often it finds a small slowdown. It is `make
// bench-diff`; docs/benchmarks/diff.md says how to read what it prints.
//
//  1. Five pairs of sides of the same nginx (A/A) tell the noise, and so a gate for each metric (gate.go).
//  2. Ten other A/A pairs are compared with that gate. Each that does not pass is a false alarm.
//  3. Ten pairs whose second side has an nginx with a little more work per request are compared with the same gate.
//
// A side is several short result sets. Those of a pair take turns, ABBA and BAAB. A pair is measured again if something disturbed it.
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

	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/plans"
)

//go:embed plan.yaml
var plan []byte

type options struct {
	calibrate, pairs int
	sets, repeats    int
	measure          time.Duration
	foreign, apart   float64
	again            int
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
	f.IntVar(&o.sets, "sets", 4, "result sets of a side")
	f.IntVar(&o.repeats, "repeats", 1, "runs of a result set")
	f.DurationVar(&o.measure, "measure", 2200*time.Millisecond, "of a run")
	f.Float64Var(&o.foreign, "foreign", 0.15, "cores that something else may use, or a hypervisor take, in a run of a pair that counts")
	f.Float64Var(&o.apart, "apart", 0.04, "by which part the host's speed may differ between the sides of a pair that counts")
	f.IntVar(&o.again, "again", 8, "disturbed pairs that are measured again, at most; further ones count")
	f.IntVar(&o.work, "work", 0, "regular expressions that the slow nginx tries more for each request; 0: tuned to 5 % of its CPU time first")
	f.StringVar(&o.binary, "planrun", "", "the planrun to use, instead of one that is built for it")
	f.StringVar(&o.keep, "keep", "", "keep the result sets in this directory")
	if err = f.Parse(args); err == nil && f.NArg() > 0 {
		err = fmt.Errorf("what is %q?", f.Arg(0))
	}
	if err == nil && (o.calibrate < 1 || o.pairs < 1) {
		err = fmt.Errorf("at least one pair of each kind is needed")
	}
	if err == nil && (o.sets < 1 || o.repeats < 1 || o.sets*o.repeats < stats.MinRuns) {
		err = fmt.Errorf("a side needs %d runs, in all of its sets together", stats.MinRuns)
	}
	return o, err
}

func bench(ctx context.Context, args []string, w io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	b, begun := &runner{options: o, out: w}, time.Now()
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
	calm, err := b.several(ctx, "A/A", o.calibrate, 0)
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
	return b.table(ctx, calm, same, slow, time.Since(begun))
}

// table is what the pairs came to, as the document has it.
func (b *runner) table(ctx context.Context, calm, same, slow []*pair, took time.Duration) error {
	fmt.Fprintf(b.out, "\nThe slow nginx tries %d regular expressions more for each request. A side was %d sets of %d runs of %v. It took %v; %d disturbed pairs were measured again, %d count all the same.\n\n",
		b.work, b.sets, b.repeats, b.measure, took.Round(time.Second), b.redo, b.kept)
	fmt.Fprintln(b.out, "| metric | an A/A ratio scatters | gate | false alarms | slowdown found | its median ratio | diff says worse: A/A | diff says worse: slower |\n|:--|--:|--:|--:|--:|--:|--:|--:|")
	for _, m := range metrics {
		n := noiseOf(m, calm)
		alarms, err := b.gated(ctx, m, n.gate, same)
		if err != nil {
			return err
		}
		found, err := b.gated(ctx, m, n.gate, slow)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| %s | %.1f %% | ratio %s %.3f | %v | %v | %.3f | %d of %d | %d of %d |\n", m.name, 100*n.scale, m.sign(), n.gate, alarms, found, m.median(slow),
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
