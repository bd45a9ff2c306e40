package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/record/recordtest"
	"github.com/planrun/planrun/internal/load"
)

// What changed silently between two rounds has cost others their conclusions: each must be said, and nothing else.
func TestWhatDiffersIsSaid(t *testing.T) {
	t.Parallel()
	plan := func(old, new string) func(*recordtest.Set) {
		return func(s *recordtest.Set) {
			if s.Plan = strings.Replace(recordtest.Plan, old, new, 1); s.Plan == recordtest.Plan {
				t.Fatalf("the plan has no %q", old)
			}
		}
	}
	machine := func(change func(*record.Environment)) func(*recordtest.Set) {
		return func(s *recordtest.Set) { s.Environment = change }
	}
	for _, c := range []struct {
		name   string
		change func(*recordtest.Set)
		want   string
	}{
		{"nothing", func(*recordtest.Set) {}, ""},
		{"kernel", machine(func(e *record.Environment) { e.Kernel = "6.2.0" }), "environment: the kernel: 6.1.0 in A, 6.2.0 in B"},
		{"governor", machine(func(e *record.Environment) { e.Governor = "powersave" }), "environment: the frequency governor: performance in A, powersave in B"},
		{"CPU", machine(func(e *record.Environment) { e.CPUModel = "Other" }), "environment: the CPU: Example CPU in A, Other in B"},
		{"sysctl gone", machine(func(e *record.Environment) { e.Sysctls = nil }), "environment: the sysctl net.core.somaxconn: 4096 in A, nothing in B"},
		{"limit", machine(func(e *record.Environment) { e.Limits["open files"] = "1024" }), "environment: the limit of open files: 20000 soft, 20000 hard in A, 1024 in B"},
		{"layout", machine(func(e *record.Environment) { e.Layout["sut"] = []int{0} }), "environment: the CPUs of the role sut: 0,1 in A, 0 in B"},
		{"planrun", machine(func(e *record.Environment) { e.Planrun = "v0.2.0" }), "environment: planrun itself, with its load generator: v0.1.0 in A, v0.2.0 in B"},
		{"a bit of memory", machine(func(e *record.Environment) { e.MemoryMiB += 10 }), ""},
		{"memory", machine(func(e *record.Environment) { e.MemoryMiB = 8000 }), "environment: memory: 16000 MiB in A, 8000 MiB in B"},
		{"published figures", machine(func(e *record.Environment) {
			*e = record.Environment{Version: record.Version, Token: "b", Start: recordtest.Begun, Imported: &record.Imported{By: "their authors", File: "x.csv"}}
		}), "environment: whose figures they are (on what published ones were measured is not recorded): planrun measured them in A, published by their authors in B"},
		{"version", machine(func(e *record.Environment) {
			e.Programs["nginx"] = record.Program{Path: "/usr/sbin/nginx", Version: "nginx version: nginx/1.24.0", SHA256: strings.Repeat("ab", 32)}
		}), "programs: nginx, its version: nginx version: nginx/1.22.1 in A, nginx version: nginx/1.24.0 in B"},
		{"another build of a version", machine(func(e *record.Environment) {
			p := e.Programs["nginx"]
			p.SHA256 = strings.Repeat("cd", 32)
			e.Programs["nginx"] = p
		}), "programs: nginx, the digest of its binary: abababababab in A, cdcdcdcdcdcd in B, although both say the same version"},
		{"knob", func(s *recordtest.Set) {
			plan("workers: 2", "workers: 4")(s)
			s.Run = func(_ int, r *record.Run) { r.With = nil }
		}, "targets: the knob workers of nginx: 2 in A, 4 in B"},
		{"knob that is computed", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) { r.With = map[string]any{"workers": 4.0} }
		}, "targets: the knob workers of nginx: 2 in A, 4 in B"},
		{"knob written long", plan("workers: 2", "workers: {value: 2}"), ""},
		{"knob's reason", plan("workers: 2", "workers: {value: 2, why: x}"), "texts: targets.nginx.with.workers.why: x in B, nothing in A"},
		{"template", func(s *recordtest.Set) {
			s.Files = map[string]string{"sources/nginx.conf.tmpl": "worker_processes 2;\nkeepalive 0;\n"}
		}, `targets: the file nginx.conf.tmpl: "keepalive 32;" in A, "keepalive 0;" in B`},
		{"order", plan("stage: main", "stage: main\n    order: reverse"), "schedule: schedule.main.order: reverse in B, nothing in A"},
		{"wire", func(s *recordtest.Set) {
			s.Run = func(_ int, r *record.Run) { r.Loads[0].Ready.Wire = "goroutines" }
		}, "environment: what moves the bytes of the load small: epoll in A, goroutines in B"},
		{"flipped keep-alive", func(s *recordtest.Set) {
			plan("path: /small", "path: /small\n    reuse: none")(s)
			s.Cells[0].Load = func(l *load.Spec) { l.Reuse = false }
		}, "what is measured: keep-alive of loads.small: connections are kept in A, a new connection for every request in B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			other := one(100)
			c.change(&other)
			d := compareSets(t, open(t, "a", one(100)), open(t, "b", other), diff.CompareOptions{})
			if got := words(d); got != c.want {
				t.Errorf("said: %s\nwant: %s", got, c.want)
			}
			if d.Same != "" {
				t.Error(d.Same)
			}
		})
	}
}

// A secret is redacted in both plans, so it neither shows nor differs; what is inserted into a list is one difference.
func TestPlansByPath(t *testing.T) {
	t.Parallel()
	a, b := one(100), one(100)
	a.Plan = recordtest.Plan + "params:\n  token: {value: \"[redacted]\", secret: true}\nverdicts: [{verdict: one, pass: failed == 0}]\n"
	b.Plan = recordtest.Plan + "params:\n  token: {value: \"[redacted]\", secret: true}\nverdicts: [{verdict: first, pass: p99_ms < 5}, {verdict: one, pass: failed == 1}]\n"
	d := compareSets(t, open(t, "a", a), open(t, "b", b), diff.CompareOptions{})
	got := words(d)
	for _, want := range []string{`texts: verdicts.first: {"pass":"p99_ms < 5","verdict":"first"} in B, nothing in A`, `texts: verdicts.one`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "token") {
		t.Error(got)
	}
}

func TestSameSets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	if err := recordtest.Write(dir, one(100)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for other, want := range map[string]string{link: "A and B are the same result set", copied: "A and B are copies of the result set of one plan run"} {
		if d := compareSets(t, openAt(t, dir, ""), openAt(t, other, ""), diff.CompareOptions{}); d.Same != want {
			t.Errorf("%s: %q", other, d.Same)
		}
	}
}

// A set of a killed planrun is compared as far as it goes, and says so.
func TestGaps(t *testing.T) {
	t.Parallel()
	killed := one(100)
	killed.Killed = true
	dir := filepath.Join(t.TempDir(), "b")
	if err := recordtest.Write(dir, killed); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"environment.json", "plan.yaml"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	d := compareSets(t, open(t, "a", one(100)), openAt(t, dir, ""), diff.CompareOptions{})
	want := []string{"it has no plan.yaml: what its plan said is not known", "it has no environment.json: what it ran on is not known", "planrun was killed before its end"}
	if got := strings.Join(d.B.Gaps, "; "); got != strings.Join(want, "; ") {
		t.Error(got)
	}
	if len(d.Rows) == 0 || words(d) != "" {
		t.Errorf("%d rows; %s", len(d.Rows), words(d))
	}
}
