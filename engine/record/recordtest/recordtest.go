// Package recordtest writes small result sets for tests, through the same writers as a plan run.
package recordtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// A Set is a result set to be written.
type Set struct {
	Plan        string                    // plan.yaml; empty: one of a target nginx and a scenario h1
	Files       map[string]string         // further files of the set, by path
	Environment func(*record.Environment) // changes the usual machine
	Cells       []Cell                    // in the order in which they ran
	Stages      []record.Stage            // none by default
	Killed      bool                      // it has no end
	Run         func(int, *record.Run)    // changes a run of a cell, counted from 0
}

// A Cell is written with as many runs as its metrics have values; the zero Status is done. One of another status has one run
// without metrics.
type Cell struct {
	Stage, Scenario, Target string
	Matrix                  []record.Axis
	Metrics                 map[string][]float64 // of the headline; of another window with the window before: phase/fault/p99_ms
	Status                  record.Status
	Reason                  string
	Guards                  []record.Guard
	Load                    func(*load.Spec) // changes the usual load
	Phases                  []record.Phase   // nil: 1 s of warm-up, 5 s of measure
}

// Plan is the usual one.
const Plan = `plan: synthetic
version: 1
backends:
  web:
    replicas: 1
targets:
  nginx:
    with:
      workers: 2
    install:
      - write:
          file: nginx.conf
          template: sources/nginx.conf.tmpl
loads:
  small:
    path: /small
    connections: 16
scenarios:
  h1:
    phases:
      - warm-up:
          for: 1s
          do:
            - load: small
              through: measure
      - measure:
          for: 5s
schedule:
  - stage: main
    scenarios:
      - h1
`

// Begun is when every set began.
var Begun = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Write writes the set into a directory, which must not exist or be empty.
func Write(dir string, s Set) error {
	set, err := record.Create(record.CreateOptions{Out: dir})
	if err != nil {
		return err
	}
	if s.Plan == "" {
		s.Plan = Plan
	}
	files := map[string]string{"plan.yaml": s.Plan, "journal.jsonl": "", "sources/nginx.conf.tmpl": "worker_processes 2;\nkeepalive 32;\n"}
	for name, text := range s.Files {
		files[name] = text
	}
	for name, text := range files {
		if err := set.WriteFile(name, []byte(text)); err != nil {
			return err
		}
	}
	env := Environment(filepath.Base(dir))
	if s.Environment != nil {
		s.Environment(env)
	}
	if err := set.WriteEnvironment(env); err != nil {
		return err
	}
	for i := range s.Stages {
		if err := set.WriteStage(&s.Stages[i]); err != nil {
			return err
		}
	}
	for _, c := range s.Cells {
		if err := c.write(set, s.Run); err != nil {
			return err
		}
	}
	if s.Killed {
		return nil
	}
	return set.WriteEnd(&record.End{})
}

// Environment is the usual machine; token tells plan runs apart.
func Environment(token string) *record.Environment {
	return &record.Environment{Version: record.Version, Token: token, BootID: "boot", Plan: "synthetic.yaml", Start: Begun, Command: []string{"planrun", "synthetic.yaml"},
		Planrun: "v0.1.0", Go: "go1.26", Hostname: "bench-1", OS: "Debian", Kernel: "6.1.0", CPUModel: "Example CPU", CPUs: 4, Governor: "performance", NUMA: 1, MemoryMiB: 16000,
		Sysctls: map[string]string{"net.core.somaxconn": "4096"}, Limits: map[string]string{"open files": "20000 soft, 20000 hard"}, Layout: map[string][]int{"sut": {0, 1}, "load": {2, 3}},
		Programs: map[string]record.Program{"nginx": {Path: "/usr/sbin/nginx", Version: "nginx version: nginx/1.22.1", SHA256: strings.Repeat("ab", 32)}}}
}

func (c Cell) write(set *record.Set, change func(int, *record.Run)) error {
	runs := 1
	for _, v := range c.Metrics {
		runs = max(runs, len(v))
	}
	if c.Status == "" {
		c.Status = record.Done
	}
	for i := range runs {
		run := c.run(i)
		if change != nil {
			change(i, run)
		}
		w, err := set.StartRun(run, record.WriterOptions{})
		if err != nil {
			return err
		}
		if err := w.Finish(run); err != nil {
			return fmt.Errorf("run %d of %v: %w", i, c.Target, err)
		}
	}
	return nil
}

func (c Cell) run(i int) *record.Run {
	phases := c.Phases
	if phases == nil {
		phases = []record.Phase{{Name: "warm-up", Kind: "warm-up", End: 1, For: 1}, {Name: "measure", Kind: "measure", Start: 1, End: 6, For: 5, Recorded: true, Headline: true}}
	}
	port := 40000 + i
	spec := load.Spec{Name: "small", Worker: i, Workers: 1, Protocol: "h1", Address: fmt.Sprintf("127.0.0.1:%d", port), Host: fmt.Sprintf("127.0.0.1:%d", port),
		Path: "/small", Connections: 16, Reuse: true}
	if c.Load != nil {
		c.Load(&spec)
	}
	run := &record.Run{Coord: record.Coord{Stage: c.Stage, Scenario: c.Scenario, Target: c.Target, Matrix: c.Matrix, Round: 1, Repeat: i + 1}, Status: c.Status, Reason: c.Reason,
		Start: Begun, Seconds: 6, With: map[string]any{"workers": 2.0}, Phases: phases, Guards: c.Guards,
		Loads: []record.Load{{Name: "small", Headline: true, Spec: spec, Workers: 1, Ready: load.Ready{Connections: 16, Verified: 1, Wire: "epoll"}, Final: true, Reported: 1}}}
	for name, values := range c.Metrics {
		if i >= len(values) {
			continue
		}
		window, metric := "", name
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			window, metric = name[:at], name[at+1:]
		}
		if run.Metrics == nil {
			run.Metrics = record.Windows{}
		}
		if run.Metrics[window] == nil {
			run.Metrics[window] = new(record.Window)
		}
		run.Metrics[window].Set(metric, values[i])
	}
	return run
}
