package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/proc/proctest"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/toxiproxy"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/serve/drop"
	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
	"github.com/planrun/planrun/probes"
)

// The test binary is also every builtin, and an engine that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && (os.Args[1] == "worker" || os.Args[1] == slowWorker) {
		serve := map[string]func() error{
			"load":   func() error { return load.Main(os.Stdin, os.Stdout) },
			"origin": func() error { return origin.Main(os.Stdin, os.Stdout) },
			"proxy":  func() error { return proxy.Main(os.Stdin, os.Stdout) },
			"relay":  func() error { return relay.Main(os.Stdin, os.Stdout) },
			"drop":   func() error { return drop.Main(os.Stdin, os.Stdout) },
			"faults": func() error { return faults.Main(os.Stdin, os.Stdout) },
		}[os.Args[2]]
		if os.Args[1] == slowWorker && os.Args[2] == "load" {
			serve = slowLoad
		}
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "victim" {
		victim(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var (
	vocabulary = dsl.Vocabulary{Actions: actions.Kinds, Probes: probes.Kinds}
	undos      = slices.Concat(proc.Undos(), toxiproxy.Undos, actions.Undos)
)

// always are the probes that planrun itself gives to every run.
func always() []dsl.Kind {
	return slices.DeleteFunc(slices.Clone(probes.Kinds), func(k dsl.Kind) bool { return k.Name != "process" && k.Name != "host" })
}

// write makes a file of a plan in a fresh directory and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// check loads and compiles a plan file.
func check(file string, opt engine.Options, set ...string) (*engine.Program, diag.List) {
	return checkAs(file, dsl.Options{Set: set}, opt)
}

// checkAs is check of a plan that is loaded as the command line says.
func checkAs(file string, line dsl.Options, opt engine.Options) (*engine.Program, diag.List) {
	line.Vocabulary = vocabulary
	plan, list := dsl.Load(file, line)
	if list.HasErrors() {
		return nil, list
	}
	opt.Always = always()
	prog, more := engine.Compile(plan, opt)
	return prog, append(list, more...)
}

// compile compiles the text of a plan that has no problem.
func compile(t testing.TB, text string, set ...string) *engine.Program {
	t.Helper()
	return compileFile(t, write(t, text), set...)
}

func compileFile(t testing.TB, file string, set ...string) *engine.Program {
	t.Helper()
	prog, list := check(file, engine.Options{}, set...)
	if list.HasErrors() {
		t.Fatalf("%v", list)
	}
	return prog
}

// runFor bounds a run of a tiny plan; it takes a few seconds on a healthy machine.
const runFor = 4 * time.Minute

// run runs a program to its end, and makes sure that nothing is left of it.
func run(t testing.TB, prog *engine.Program, opt engine.RunOptions) *engine.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runFor)
	defer cancel()
	return runIn(ctx, t, prog, opt)
}

func runIn(ctx context.Context, t testing.TB, prog *engine.Program, opt engine.RunOptions) *engine.Outcome {
	t.Helper()
	if opt.Out == "" {
		opt.Out = filepath.Join(t.TempDir(), "results")
	}
	opt.Undos = actions.Undos
	out, err := prog.Run(ctx, opt)
	if err != nil {
		t.Fatalf("running: %v", err)
	}
	if left := proctest.Left(t, opt.Out, ""); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	log, err := journal.Read(out.Set.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if p := log.Pending(); len(p) > 0 {
		t.Errorf("not undone: %v", p)
	}
	return out
}

// runs are the runs of an outcome, as they were stored.
func runs(t testing.TB, out *engine.Outcome) (all []*record.Run) {
	t.Helper()
	for r, err := range out.Set.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// only is the one run of an outcome.
func only(t testing.TB, out *engine.Outcome) *record.Run {
	t.Helper()
	all := runs(t, out)
	if len(all) != 1 {
		t.Fatalf("%d runs", len(all))
	}
	return all[0]
}

// ran gives the only run, which got as far as its phases and its load.
func ran(t testing.TB, out *engine.Outcome) *record.Run {
	t.Helper()
	r := only(t, out)
	if len(r.Phases) == 0 || len(r.Loads) == 0 {
		t.Fatalf("%d phases and %d loads: %s (%s), exit %d (%s)", len(r.Phases), len(r.Loads), r.Status, r.Reason, out.Exit, out.Why)
	}
	return r
}

// verdictsOf gives the outcomes by verdict: "ok" -> [pass pass].
func verdictsOf(out *engine.Outcome) map[string][]string {
	m := map[string][]string{}
	for _, v := range out.Results.Verdicts {
		m[v.Verdict] = append(m[v.Verdict], v.Outcome)
	}
	return m
}

// reportOf is the text of the report.
func reportOf(t testing.TB, out *engine.Outcome) string {
	t.Helper()
	b, err := os.ReadFile(out.Set.Path("report.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// reasons says why verdicts did not pass.
func reasons(out *engine.Outcome) string {
	var lines []string
	for _, v := range out.Results.Verdicts {
		if v.Outcome != "pass" {
			lines = append(lines, fmt.Sprintf("%s: %s (%s) %v", v.Verdict, v.Outcome, v.Reason, v.Operands))
		}
	}
	return strings.Join(lines, "\n")
}
