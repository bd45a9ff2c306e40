package engine

import (
	"strings"

	"github.com/planrun/planrun/engine/machine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// planFunctions are what expressions can ask of an installation. Ports, endpoints and processes are the names that there are
// where they are known; nil is anything.
func planFunctions(ports, endpoints, processes []string) []verdict.Function {
	return []verdict.Function{
		{Name: "port", In: verdict.AtRun, Args: []verdict.Type{verdict.TypeOfKind(verdict.Text)}, Result: verdict.TypeOfKind(verdict.Number), Names: ports,
			Doc: "the port that planrun picked for a name in the listen of the target's start actions"},
		{Name: "endpoint", In: verdict.AtRun, Args: []verdict.Type{verdict.TypeOfKind(verdict.Text)}, Result: verdict.TypeOfKind(verdict.Text), Names: endpoints,
			Doc: "host:port of an endpoint of the target"},
		{Name: "pids", In: verdict.AtRun, Args: []verdict.Type{verdict.TypeOfKind(verdict.Text)}, Result: verdict.TypeOfKind(verdict.Text), Names: processes,
			Doc: "ids of the processes of a name or a role (sut) that run, with what they have started, joined by commas: for programs that watch processes"},
	}
}

// planNames declares what every run has beside the names that the schema makes by itself.
func (c *compilation) planNames() []verdict.Name {
	text, number := verdict.TypeOfKind(verdict.Text), verdict.TypeOfKind(verdict.Number)
	run := verdict.Since(verdict.AtRun)
	names := []verdict.Name{
		{Name: "host.cpus", In: verdict.Always, Value: floats(machine.Allowed()), Doc: "the CPUs that planrun may use, in order"},
		{Name: "dir", Type: text, In: run, Doc: "the working directory of the installation"},
		{Name: "replica", Type: number, In: run, Doc: "the index of the replica that is being started, from 0"},
		{Name: "tls.cert", Type: text, In: run, Doc: "path of the certificate that host.tls asks for"},
		{Name: "tls.key", Type: text, In: run, Doc: "path of its key"},
	}
	for _, b := range c.Plan.Backends.Names() {
		names = append(names,
			verdict.Name{Name: "backends." + b + ".address", Type: text, In: run, Doc: "host:port of its first replica, or of the relay in front of it"},
			verdict.Name{Name: "backends." + b + ".addresses", Type: verdict.ListOf(text), In: run, Doc: "host:port of every replica"})
	}
	for _, v := range c.values {
		names = append(names, verdict.Name{Name: "values." + v, In: run, Doc: "set by an exec action"})
	}
	return names
}

// targetNames lists the targets as expressions know them.
func (c *compilation) targetNames() (out []verdict.Target) {
	for _, t := range c.Plan.Targets {
		v := verdict.Target{Name: t.Name, Unsupported: map[string]string{}}
		for _, u := range t.Val.Unsupported {
			v.Unsupported[u.Name] = u.Val
		}
		out = append(out, v)
	}
	return out
}

// Selects reports whether a pattern of --only or --skip means a cell: one name, or several with / between them, of which
// all must be that of its stage, target or scenario. A matrix value is axis=value in place of a name; * is anything.
func Selects(pattern string, c record.Coord) bool {
	for p := range strings.SplitSeq(pattern, "/") {
		if p != "*" && p != c.Stage && p != c.Target && p != c.Scenario && !hasAxis(c, p) {
			return false
		}
	}
	return true
}

func hasAxis(c record.Coord, text string) bool {
	for _, a := range c.Matrix {
		if a.Name+"="+a.Value == text {
			return true
		}
	}
	return false
}
