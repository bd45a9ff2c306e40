package proc

import (
	"cmp"
	"fmt"
	"strings"
)

// A MissingProgram is a program that is not installed: its target is unsupported, which is a result and no error of the
// harness.
type MissingProgram struct{ Program string }

func (e *MissingProgram) Error() string {
	if strings.Contains(e.Program, "/") {
		return fmt.Sprintf("there is no program %s on this machine", e.Program)
	}
	return fmt.Sprintf("there is no program %s on this machine (looked in PATH)", e.Program)
}

// A Refusal says why this machine cannot do what a process asks for, in words.
type Refusal struct{ Reason string }

func (e *Refusal) Error() string { return e.Reason }

// A StartError is a process that did not become ready, or a command that did not end well.
type StartError struct {
	Doing   string   // "starting" if empty
	Process string   // with its replica: "web/1"
	Reason  string   // "it ended before it was ready: exit status 1", "port http (127.0.0.1:8080) accepts no connection after 10s"
	Log     string   // path of its log; "" if it was not started at all
	Tail    []string // the log's last lines
}

func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", cmp.Or(e.Doing, "starting"), e.Process, e.Reason)
	if e.Log == "" {
		return b.String()
	}
	if len(e.Tail) == 0 {
		fmt.Fprintf(&b, "; its log %s is empty", e.Log)
		return b.String()
	}
	fmt.Fprintf(&b, "; the last lines of its log %s:", e.Log)
	for _, l := range e.Tail {
		b.WriteString("\n  | ")
		b.WriteString(l)
	}
	return b.String()
}
