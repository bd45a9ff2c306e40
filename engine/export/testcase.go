package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/planrun/planrun/engine/record"
)

// testOf makes a test of a judgement. Its class is PLAN.VERDICT: what shows tests as a tree divides a class at its dots.
func testOf(plan string, j record.Judgement) junit.Testcase {
	t := junit.Testcase{Name: place(j.Coord), Classname: dotless(plan) + "." + dotless(j.Verdict)}
	gates := j.Gate == "true" || j.Gate == "fail-only"
	said, all := summary(j), explanation(j)
	switch {
	case j.Outcome == record.Pass:
		t.SystemOut = &junit.Output{Data: all}
	case j.Outcome == record.Fail && gates:
		t.Failure = &junit.Result{Message: said, Type: record.Fail, Data: all}
	case j.Outcome == record.Error && gates, j.Outcome == record.Inconclusive && j.Gate == "true":
		t.Error = &junit.Result{Message: said, Type: j.Outcome, Data: all}
	case j.Outcome == record.NotSupported, j.Outcome == record.NotJudged:
		t.Skipped = &junit.Result{Message: said, Data: all}
	case gates: // inconclusive
		t.Skipped = &junit.Result{Message: "gates only if it fails: " + said, Data: all}
	default:
		t.Skipped = &junit.Result{Message: "does not gate: " + said, Data: all}
	}
	return t
}

// planTest is the test of the plan as a whole. red says that a verdict's test tells already why the exit code is not 0.
func planTest(res *record.Results, red bool) junit.Testcase {
	t := junit.Testcase{Name: "exit code", Classname: dotless(res.Plan)}
	said := fmt.Sprintf("exit %d: %s", res.Exit, oneLine(res.ExitWhy))
	all := said
	if !res.Complete {
		all += "\nsome runs are missing"
	}
	for _, u := range res.Undone {
		all += "\nnot undone: " + oneLine(u)
	}
	if res.Exit != 0 && (!red || res.Exit != 1 && res.Exit != 3) {
		t.Error = &junit.Result{Message: said, Type: "exit " + strconv.Itoa(res.Exit), Data: all}
	} else {
		t.SystemOut = &junit.Output{Data: all}
	}
	return t
}

func dotless(s string) string { return strings.ReplaceAll(oneLine(s), ".", "_") }

// place says a coordinate in words: "throughput / h1-small / size=4k / nginx, round 2".
func place(c record.Coord) string {
	var parts []string
	for _, p := range []string{c.Stage, c.Scenario} {
		if p != "" {
			parts = append(parts, plain(p))
		}
	}
	for _, a := range c.Matrix {
		parts = append(parts, plain(a.Name+"="+a.Value))
	}
	if c.Target != "" {
		parts = append(parts, plain(c.Target))
	}
	name := cmp.Or(strings.Join(parts, " / "), "the plan")
	if c.Round != 0 {
		name += fmt.Sprintf(", round %d", c.Round)
	}
	if c.Repeat != 0 {
		name += fmt.Sprintf(", repeat %d", c.Repeat)
	}
	return name
}

// summary is a judgement on one line: "fail: p99_ms < 5; p99_ms = 7.31".
func summary(j record.Judgement) string {
	parts := []string{labelled(j.Outcome, j.Label)}
	if j.Expression != "" {
		parts[0] += ": " + oneLine(j.Expression)
	}
	if len(j.Operands) > 0 {
		parts = append(parts, operands(j.Operands))
	}
	if j.Reason != "" {
		parts = append(parts, oneLine(j.Reason))
	}
	if j.Broke != "" {
		parts = append(parts, "first broken at "+oneLine(j.Broke))
	}
	return strings.Join(parts, "; ")
}

// explanation is a judgement with all that it rests on, a line each.
func explanation(j record.Judgement) string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", what, text)
		}
	}
	line("outcome", labelled(j.Outcome, j.Label))
	line("about", plain(j.About))
	line("expression", plain(j.Expression))
	for _, o := range j.Operands {
		line("operand", operands([]record.Operand{o}))
	}
	line("runs", strconv.Itoa(j.N))
	line("reason", plain(j.Reason))
	line("first broken at", plain(j.Broke))
	line("gate", cmp.Or(plain(j.Gate), "no"))
	for _, r := range j.Runs {
		parts := []string{labelled(r.Outcome, r.Label)}
		if len(r.Operands) > 0 {
			parts = append(parts, operands(r.Operands))
		}
		if r.Reason != "" {
			parts = append(parts, oneLine(r.Reason))
		}
		at := fmt.Sprintf("round %d", r.Round)
		if r.Repeat != 0 {
			at += fmt.Sprintf(", repeat %d", r.Repeat)
		}
		line(at, strings.Join(parts, "; "))
	}
	return b.String()
}

func labelled(outcome, label string) string {
	if label == "" {
		return outcome
	}
	return outcome + " (" + oneLine(label) + ")"
}

func operands(ops []record.Operand) string {
	parts := make([]string, len(ops))
	for i, o := range ops {
		parts[i] = oneLine(o.Text) + " = " + oneLine(o.Value)
	}
	return strings.Join(parts, ", ")
}

// propertiesOf are the machine, and what ran on it.
func propertiesOf(res *record.Results, env *record.Environment) (out []junit.Property) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, junit.Property{Name: plain(name), Value: plain(value)})
		}
	}
	add("plan", res.Plan)
	add("planrun", env.Planrun)
	add("command", strings.Join(env.Command, " "))
	if env.Imported != nil {
		add("published by", env.Imported.By)
		add("file", env.Imported.File)
		add("sha256", env.Imported.SHA256)
	}
	add("os", env.OS)
	add("kernel", env.Kernel)
	add("cpu", env.CPUModel)
	if env.CPUs > 0 {
		add("cpus", strconv.Itoa(env.CPUs))
	}
	if env.MemoryMiB > 0 {
		add("memory_mib", number(env.MemoryMiB))
	}
	add("governor", env.Governor)
	add("virtual", env.Virtual)
	for _, name := range slices.Sorted(maps.Keys(env.Programs)) {
		p := env.Programs[name]
		add("version of "+name, cmp.Or(p.Version, p.Missing))
		add("sha256 of "+name, p.SHA256)
	}
	return out
}
