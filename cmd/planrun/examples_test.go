package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples runs every example of every help text, where the files that they speak of are.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs plans; -short starts none")
	}
	t.Chdir(t.TempDir())
	commands := map[string]*cobra.Command{}
	root := new(program).root()
	commands["planrun"] = root
	for _, c := range root.Commands() {
		commands[c.Name()] = c
		if c.Example == "" && c.Name() != "help" && !c.Hidden {
			t.Errorf("planrun %s has no example", c.Name())
		}
	}
	// What writes files comes before what reads them.
	for _, name := range []string{"init", "run", "planrun", "check", "show", "env", "import", "report", "judge", "export", "diff", "clean", "list", "explain", "schema"} {
		c := commands[name]
		delete(commands, name)
		if name == "planrun" {
			if err := os.Remove("mine.yaml"); err != nil { // it writes it again
				t.Fatal(err)
			}
		}
		if name == "diff" {
			example(t, "planrun plan.yaml --gate none --out results/again") // of the plan of results/before
			example(t, "planrun plan.yaml --gate none")                     // results/latest
		}
		for _, line := range strings.Split(strings.Trim(c.Example, "\n"), "\n") {
			example(t, line)
		}
		if name == "init" {
			tinyMine(t)
		}
	}
	for name, c := range commands {
		if c.Example != "" {
			t.Errorf("the examples of %s were not run", name)
		}
	}
}

// example runs one line: a command, and behind two or more spaces what it is for.
func example(t *testing.T, line string) {
	command, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
	args := strings.Fields(command)
	if len(args) == 0 || args[0] != "planrun" {
		t.Fatalf("no example of planrun: %q", line)
	}
	if len(args) == 2 && args[1] == "quickstart.yaml" { // in less time
		command += " --only http-proxy/throughput --repeats 1 --set measure=1s --gate none"
	}
	c := exec.Command("sh", "-c", command) // quotes mean what they mean to whoever copies the line
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, &out)
	}
	if out.Len() == 0 {
		t.Errorf("%s says nothing", command)
	}
}

// tinyMine makes plan.yaml a plan of the same names that needs nothing and is over at once.
func tinyMine(t *testing.T) {
	b := []byte(`plan: plan
version: 1
params: {measure: 300ms, in_flight: 4}
presets: {smoke: {measure: 200ms}}
host: {guards: {shortest: 100ms}}
backends: {web: {replicas: 1}}
targets:
  mine: {install: [start: {builtin: relay, listen: [http], upstreams: web}]}
loads: {small: {endpoint: http, path: /small, connections: "${{ params.in_flight }}"}}
scenarios:
  closed: {phases: [measure: {for: "${{ params.measure }}", do: [load: small]}]}
schedule: [{stage: throughput, scenarios: [closed]}]
verdicts: [{verdict: nothing fails, pass: failed == 0, gate: true}]
`)
	if err := os.WriteFile("plan.yaml", b, 0o644); err != nil {
		t.Fatal(err)
	}
}
