package engine

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/verdict"
)

// exit gives the code, the first that applies of 5, 130, 4, 1, 3, 0, and why. README.md says what each means.
func exit(end *record.End, failed []string, gates verdict.Summary) (int, string) {
	switch {
	case len(end.NotUndone) > 0:
		return 5, counted(len(end.NotUndone), "change could", "changes could") + " not be undone; `planrun clean` tries again"
	case end.Interrupted:
		return 130, "interrupted; undone, and what there was is reported"
	case end.Failure != "":
		return 4, "the harness failed: " + end.Failure
	case len(failed) > 0:
		first, _, _ := strings.Cut(failed[0], "\n")
		if more := len(failed) - 1; more > 0 {
			first = fmt.Sprintf("%s (and %d more)", strings.TrimSuffix(first, ":"), more)
		}
		return 4, "the harness failed: " + first
	case gates.Exit() == 4:
		return 4, counted(gates.Errored, "gating verdict", "gating verdicts") + " could not be judged because the harness failed"
	case gates.Exit() == 1:
		return 1, counted(gates.Failed, "gating verdict", "gating verdicts") + " failed"
	case len(gates.Nothing) > 0:
		return 3, fmt.Sprintf("a gate judged nothing: %q", gates.Nothing[0])
	case gates.Exit() == 3:
		return 3, counted(gates.Inconclusive, "gating verdict is", "gating verdicts are") + " inconclusive"
	case gates.Passed == 0:
		return 0, "the plan has no gates"
	}
	return 0, counted(gates.Passed, "gate", "gates") + " passed, none failed"
}

// counted is a number with what it counts.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
