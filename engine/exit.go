package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/internal/plural"
)

// exit gives the code, the first that applies of 5, 130, 4, 1, 3, 0, and why. README.md says what each means.
func exit(end *record.End, failed []string, gates verdict.Summary, js []verdict.Judgement) (int, string) {
	switch {
	case len(end.NotUndone) > 0:
		return 5, plural.Of(len(end.NotUndone), "change") + " could not be undone; `planrun clean` tries again"
	case end.Interrupted:
		return 130, "interrupted; undone, and what there was is reported"
	case end.Failure != "":
		return 4, "the harness failed: " + end.Failure
	case len(failed) > 0:
		what := short(failed[0])
		if more := len(failed) - 1; more > 0 {
			what = fmt.Sprintf("%s (and %d more)", what, more)
		}
		return 4, "the harness failed: " + what
	case gates.Exit() == 4:
		return 4, plural.Of(gates.Errored, "gating verdict") + " could not be judged because the harness failed"
	case gates.Exit() == 1:
		return 1, plural.Of(gates.Failed, "gating verdict") + " failed"
	case len(gates.Nothing) > 0:
		return 3, fmt.Sprintf("a gate judged nothing: %q", gates.Nothing[0])
	case gates.Exit() == 3:
		return 3, plural.Of(gates.Inconclusive, "gating verdict") + plural.Verb(gates.Inconclusive, " is", " are") + " inconclusive"
	case gates.Passed == 0:
		return 0, "the plan has no gates"
	}
	why := plural.Of(gates.Passed, "gate") + " passed, none failed"
	if gates.Unsupported > 0 {
		why += fmt.Sprintf("; %d could not be judged: %s", gates.Unsupported, unjudged(js))
	}
	return 0, why
}

// unjudged says of which targets gates could not be judged, and why: "haproxy (not installed on this machine: haproxy)". Of a
// gate that is of no single target its name stands there.
func unjudged(js []verdict.Judgement) string {
	const most = 3
	var all []string
	for _, j := range js {
		if j.Gate == "" || j.Outcome != verdict.NotSupported {
			continue
		}
		of := j.At.Target
		if of == "" {
			of = fmt.Sprintf("%q", j.Verdict)
		}
		if words := of + " (" + short(j.Reason) + ")"; !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	words := strings.Join(all[:min(most, len(all))], ", ")
	if more := len(all) - most; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// short is an error on one line: where it quotes a log, with the last line of that.
func short(text string) string {
	first, rest, quotes := strings.Cut(text, "\n")
	if !quotes {
		return first
	}
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	last := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "|"))
	if i := strings.LastIndex(first, "; the last lines of its log"); i >= 0 {
		first = first[:i]
	}
	return strings.TrimSuffix(first, ":") + ": " + last
}
