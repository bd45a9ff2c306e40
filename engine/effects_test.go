package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine"
)

// A variation changes keys of a plan. What check accepts must take effect: the timeline changes, or the outcome does, or
// running is refused.
type variation struct {
	keys string // separated by spaces, as languageKeys names them, with + for a space
	base string // laid over the skeleton in both plans
	with string // laid over it in one
	by   string // instead: PACKAGE.TEST shows the effect
}

// skeleton is the plan that variations are laid over, by the language's own rule: maps merge, lists are replaced.
const skeleton = `
plan: keys
backends: {web: {}}
relays: {slow_web: {of: web}}
targets: {t: {with: {knob: 1}, install: [{start: {name: sut, builtin: relay, listen: [http], upstreams: web}}]}}
loads: {small: {path: /small, rate: 100/s, timeout: 1s}}
scenarios: {s: {phases: [{measure: {for: 400ms, do: [{load: small}]}}]}}
verdicts: [{verdict: v, pass: failed == 0}]
`

// Pieces of plans.
func do(actions string) string {
	return "scenarios: {s: {phases: [{measure: {for: 400ms, do: [{load: small}, " + actions + "]}}]}}"
}
func inLoad(spec string) string {
	return "scenarios: {s: {phases: [{measure: {for: 400ms, do: [{load: {use: small, " + spec + "}}]}}]}}"
}
func overTLS(spec string) string {
	return "backends: {web: {listen: [https]}}\ntargets: {t: {install: [{start: {name: sut, builtin: relay, listen: [https], upstreams: web}}]}}\n" + inLoad("endpoint: https, "+spec)
}
func inPhase(keys string) string {
	return "scenarios: {s: {phases: [{measure: {for: 400ms, do: [{load: small}], " + keys + "}}]}}"
}
func install(start string) string {
	return "targets: {t: {install: [{start: {name: sut, builtin: relay, listen: [http], upstreams: web, " + start + "}}]}}"
}
func inTarget(keys string) string   { return "targets: {t: {" + keys + "}}" }
func inScenario(keys string) string { return "scenarios: {s: {" + keys + "}}" }
func inHost(keys string) string     { return "host: {" + keys + "}" }
func inVerdict(keys string) string {
	return "verdicts: [{verdict: v, pass: failed == 0, " + keys + "}]"
}
func inSection(keys string) string {
	return "report: [{table: A table, rows: target, metrics: [req_per_s], " + keys + "}]"
}
func inBackend(keys string) string { return "backends: {web: {" + keys + "}}" }

const (
	twoTargets = "targets: {u: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}"
	matrix     = "scenarios: {s: {matrix: {size: [1, 2]}}}"
	nothing    = "about: nothing"
)

// observe describes what a program is going to do, or that it is refused.
func observe(p *engine.Program) string {
	var b strings.Builder
	for _, l := range p.Later {
		fmt.Fprintf(&b, "refused: %s\n", l.Msg)
	}
	fmt.Fprintf(&b, "takes %+v\n", p.Takes())
	for _, c := range p.Cells {
		fmt.Fprintf(&b, "%s: repeats %d, relays %v, unsupported %q, left out %q\n", c, c.Repeats, c.Relays, c.Unsupported, c.LeftOut)
		for _, l := range append(c.Install(), c.Timeline()...) {
			l.Where = ""
			fmt.Fprintf(&b, "  %+v\n", l)
		}
	}
	return b.String()
}

var volatile = regexp.MustCompile(`127\.0\.0\.1:\d+|/\S*/(installs|runs)/|/tmp/\S*|[0-9a-f]{16,}`)

// outcomeOf describes what a run came to, without what changes from one run to the next.
func outcomeOf(t testing.TB, out *engine.Outcome) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		b.WriteString(volatile.ReplaceAllString(fmt.Sprintf(format, args...), "*") + "\n")
	}
	env, err := out.Set.Environment()
	if err != nil {
		t.Fatal(err)
	}
	say("exit %d; layout %v; programs %v", out.Exit, env.Layout, env.Programs["t"].Version)
	for _, v := range out.Results.Verdicts {
		say("verdict %s %v %s %s gate %v runs %d: %s", v.Verdict, v.Coord, v.Outcome, v.Label, v.Gate, len(v.Runs), v.Expression)
	}
	for _, s := range out.Results.Stages {
		say("stage %s %d order %s seed %d", s.Name, s.Round, s.Order, s.Seed)
	}
	for _, r := range runs(t, out) {
		say("run %v %s %s install %s history %v values %d params %v with %v", r.Coord, r.Status, r.Reason, r.Install, r.SetHistory, len(r.Values), r.Params, r.With)
		for _, p := range r.Phases {
			say("  phase %s %s %.1f headline %v ended %s", p.Name, p.Kind, p.End-p.Start, p.Headline, p.Ended)
		}
		for _, a := range r.Actions {
			say("  action %s %s %s failed %v", a.Phase, a.Kind, a.Name, a.Error != "")
		}
		for _, l := range r.Loads {
			spec, _ := json.Marshal(l.Spec)
			say("  load %s headline %v workers %d cpus %v verified %d problem %v %s", l.Name, l.Headline, l.Workers, l.CPUs, l.Ready.Verified, l.Ready.Problem != "", spec)
		}
		for _, p := range r.Processes {
			say("  process %s %s %d cpus %v command %v ports %d", p.Name, p.Role, p.Replica, p.CPUs, p.Command, len(p.Ports))
		}
		for _, f := range r.Facts.Faults {
			say("  fault %s %s %s asked %g", f.Relay, f.Toxic, f.Says, f.Asked)
		}
		for _, s := range r.Series {
			say("  series %s", s.Name)
		}
		for _, g := range r.Guards {
			if slices.Contains([]string{"verified", "answered", "length"}, g.Name) { // others depend on what else this machine does
				say("  guard %s ok %v", g.Name, g.OK)
			}
		}
	}
	for _, s := range out.Results.Sections {
		say("section %+v", s)
	}
	for _, g := range out.Results.Targets {
		say("target %s %s %v %v", g.Name, g.About, g.Knobs, g.CannotEqual)
	}
	if d, ok := out.Results.Descs["twice"]; ok { // the plan's own; others are there if two samples fell into the window
		say("metric %s %s %s %s", d.Name, d.Unit, d.Better, d.Doc)
	}
	for line := range strings.Lines(reportOf(t, out)) {
		if strings.HasPrefix(line, "#") && !strings.HasSuffix(line, " What happened\n") { // also to a probe that had no CPU
			say("report %s", line)
		}
	}
	say("about %s; %v", out.Results.About, out.Results.Plan)
	return b.String()
}

// laid is a plan file of the skeleton with texts laid over it.
func laid(t testing.TB, overlays ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "0.yaml")
	text := skeleton
	for i := 0; ; i++ {
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if i == len(overlays) {
			break
		}
		text = fmt.Sprintf("include: [%d.yaml]\n%s\n", i, overlays[i])
		if !strings.Contains(overlays[i], "plan: ") {
			text = "plan: keys\n" + text
		}
		at = filepath.Join(dir, fmt.Sprintf("%d.yaml", i+1))
	}
	for name, content := range map[string]string{"more.yaml": "plan: more\nparams: {more: 1}\n", "target.yaml": "about: from a file\n", "file.tmpl": "{{.Target}}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// bases keeps what the plans without variations came to, because many variations share one.
var bases sync.Map // base -> func() string

func baseOutcome(t *testing.T, base string) string {
	t.Helper()
	once, _ := bases.LoadOrStore(base, sync.OnceValue(func() string {
		return outcomeOf(t, run(t, compileFile(t, laid(t, base)), engine.RunOptions{}))
	}))
	return once.(func() string)()
}

// TestEveryKeyTakesEffect varies every key of the language in a small plan, and sees a changed timeline, a changed outcome,
// or that running is refused.
func TestEveryKeyTakesEffect(t *testing.T) {
	rows := map[string]bool{}
	for _, v := range variations {
		for key := range strings.FieldsSeq(v.keys) {
			rows[strings.ReplaceAll(key, "+", " ")] = true
		}
	}
	known := languageKeys()
	for _, k := range known {
		if !rows[k] {
			t.Errorf("nothing varies the key %s: add a row to variations", k)
		}
	}
	for k := range rows {
		if !slices.Contains(known, k) {
			t.Errorf("the language has no key %s", k)
		}
	}
	for _, v := range variations {
		t.Run(strings.Fields(v.keys)[0], func(t *testing.T) {
			t.Parallel()
			if v.by != "" {
				testExists(t, v.by)
				return
			}
			base, with := compileFile(t, laid(t, v.base)), compileFile(t, laid(t, v.base, v.with))
			if observe(base) != observe(with) {
				return
			}
			if testing.Short() {
				t.Skip("running every variation takes a while")
			}
			was := baseOutcome(t, v.base)
			if is := outcomeOf(t, run(t, with, engine.RunOptions{})); is == was {
				t.Errorf("%s does nothing:\n%s\n%s", v.keys, v.with, is)
			}
		})
	}
}

// What the effects are seen by is not noise: the same plan comes to the same outcome again.
func TestOutcomesAreNotNoise(t *testing.T) {
	a := outcomeOf(t, run(t, compileFile(t, laid(t, nothing)), engine.RunOptions{}))
	b := outcomeOf(t, run(t, compileFile(t, laid(t, nothing)), engine.RunOptions{}))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the same plan twice:\n%s", diff)
	}
}

// testExists makes sure that a test that a row names is there.
func testExists(t *testing.T, name string) {
	t.Helper()
	dir, test, _ := strings.Cut(name, ".")
	files, _ := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "func "+test+"(t *testing.T)") {
			return
		}
	}
	t.Errorf("there is no test %s", name)
}
