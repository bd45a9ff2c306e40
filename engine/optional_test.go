package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// What is optional and cannot be done is left out: the run goes on, and its report says what and why. What it can do it does,
// and a watching program is told which processes there are.
func TestOptional(t *testing.T) {
	out := run(t, compile(t, `
plan: optional
backends: {web: {}}
targets:
  t:
    install:
      - {optional: true, exec: [no-such-program-5]}
      - start: {builtin: relay, listen: [http], upstreams: web}
      - start: {name: tree, as: side, command: [sh, -c, "sleep 600 & sleep 600"]}
scenarios:
  s:
    phases:
      - measure: {for: 400ms, do: [{load: {path: /small, rate: 100/s}, through: watch}]}
      - load:
          name: watch
          do:
            - {name: profiler, optional: true, exec: [no-such-program-6, -p, "${{ pids(\"sut\") }}"]}
            - {name: refused, optional: true, exec: [sh, -c, "echo not permitted >&2; exit 3"]}
            - {name: nested, repeat: {times: 1, do: [{name: inner, optional: true, exec: ["false"]}, {exec: [touch, after]}]}}
            - {name: watcher, optional: true, exec: {command: [echo, "${{ pids(\"side\") }}"], show: 3}}
      - load: {name: cut, for: 200ms, do: [{name: long, optional: true, exec: [sleep, '600']}]}
verdicts: [{verdict: v, gate: true, pass: failed == 0 && requests > 0}]
report: [verdicts, section: threads]
`), engine.RunOptions{})
	passed(t, out)
	r := only(t, out)
	if r.Status != record.Done {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	var failed []string
	for _, a := range r.Actions {
		if a.Error != "" {
			failed = append(failed, a.Name)
		}
	}
	if want := []string{"profiler", "refused", "long"}; !slices.Equal(failed, want) {
		t.Errorf("without effect were %v, want %v", failed, want)
	}
	if _, err := os.Stat(filepath.Join(out.Set.Dir, r.Install, "after")); err != nil {
		found, _ := filepath.Glob(filepath.Join(out.Set.Dir, "*", "*", "after"))
		if len(found) == 0 {
			t.Errorf("what follows an optional action was not done: %v", err)
		}
	}
	text := reportOf(t, out)
	for _, want := range []string{
		"Left out**: profiler, of s / t (there is no program no-such-program-6 on this machine",
		"Left out**: refused, of s / t (running sh: exit status 3",
		"inner was left out: ", "profiler was left out: ", "## CPU by thread", "s / t: watcher:\n\n```\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	printed, err := filepath.Glob(filepath.Join(out.Set.Dir, "runs", "*", "output", "exec-watcher.out"))
	if err != nil || len(printed) != 1 {
		t.Fatal(printed, err)
	}
	b, err := os.ReadFile(printed[0])
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Split(strings.TrimSpace(string(b)), ",")
	if want := fmt.Sprint(processNamed(t, r, "tree").PID); len(ids) != 3 || !slices.Contains(ids, want) { // a shell, and two programs that it runs
		t.Errorf("the processes are %q, of which %s is the first one's", b, want)
	}
}

func processNamed(t *testing.T, r *record.Run, name string) record.Process {
	t.Helper()
	for _, p := range r.Processes {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no process %s", name)
	return record.Process{}
}

// A scenario that runs a program which is not here is unsupported, and its target is not.
func TestScenarioWithoutItsProgram(t *testing.T) {
	out := run(t, compile(t, `
plan: programs
backends: {web: {}}
targets: {t: {install: [start: {builtin: relay, listen: [http], upstreams: web}]}}
scenarios:
  plain: {phases: [measure: {for: 300ms, do: [{load: {path: /small, rate: 100/s}}, {exec: {command: [own], env: {PATH: "`+ownProgram(t)+`:/bin:/usr/bin"}}}]}]}
  needy: {phases: [measure: {for: 300ms, do: [{load: {path: /small, rate: 100/s}}, {exec: [no-such-program-7]}]}]}
`), engine.RunOptions{})
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, out.Why)
	}
	got := map[string]string{}
	for _, c := range out.Results.Cells {
		got[c.Coord.Scenario] = c.Status.Words(c.Reason)
	}
	if got["plain"] != "done" || got["needy"] != "unsupported: not installed on this machine: no-such-program-7, which the scenario runs" {
		t.Errorf("%v", got)
	}
	if own := out.Results.Targets[0].Own; own != "relay" {
		t.Errorf("the target, planrun's own relay, is its own %q", own)
	}
	if p := out.Results.Targets[0].Program; p.Missing != "" {
		t.Errorf("the target counts as missing: %+v", p)
	}
}

// ownProgram is a directory with the program own.
func ownProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "own"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Only actions that change nothing of what is measured can be optional.
func TestOptionalChecks(t *testing.T) {
	for _, tt := range []struct{ action, want string }{
		{"{load: {path: /}, optional: true}", "optional: what load does belongs to what is measured; exec, http and signal can be optional"},
		{"{exec: ['true'], undo: [{exec: ['true'], optional: true}]}", "optional: what undoes something is no choice; leave it out"},
		{"{exec: ['true', '${{ pids(\"stu\") }}']}", "did you mean"},
		{"{exec: ['true', '${{ pids(\"sut\") }}'], optional: true}", ""},
	} {
		_, list := check(write(t, "plan: p\ntargets: {t: {install: [start: {builtin: relay, listen: [http], upstreams: web}]}}\nbackends: {web: {}}\nscenarios: {s: {phases: [measure: {for: 1s, do: ["+tt.action+"]}]}}\n"), engine.Options{})
		if tt.want == "" && list.HasErrors() || tt.want != "" && (list == nil || !strings.Contains(list.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.action, list, tt.want)
		}
	}
}
