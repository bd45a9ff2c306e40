package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// That what is measured shares CPUs with what is around it is said once, with what it means.
func TestSharedCPUs(t *testing.T) {
	place := func(role string, cpus ...int) record.Process {
		return record.Process{Name: role, Role: role, CPUs: cpus}
	}
	for _, c := range []struct {
		name string
		ids  []int // of the CPUs that planrun may use; nil if they were not recorded
		with []record.Process
		want string // "" is that nothing is said
	}{
		{"each has its own", nil, []record.Process{place("sut", 0), place("backends", 1), place("load", 2, 3)}, ""},
		{"target and backends", nil, []record.Process{place("sut", 0), place("backends", 0), place("backends", 0), place("load", 1)},
			"The target and the backends share CPU 0 (in all 3 runs). Rates and latencies are of the target and what shares its CPUs together, and where these have no time to spare a difference between targets shows smaller than it is; CPU figures of the target are its own."},
		{"only some CPUs", nil, []record.Process{place("sut", 0, 1, 2), place("load", 1, 2, 3)},
			"The target and the load generator share CPUs 1-2 (in all 3 runs). The load generator takes CPU time from what it shares with, and waits for it; the guards"},
		{"nothing is pinned", nil, []record.Process{place("sut"), place("backends"), place("load"), place("control")},
			"The target, the backends and the load generator share CPUs 0-3 (in all 3 runs). Rates and latencies are of the target and what shares its CPUs together, and where these have no time to spare a difference between targets shows smaller than it is; CPU figures of the target are its own. The load generator takes CPU"},
		{"in two ways", nil, []record.Process{place("sut", 0), place("backends", 0), place("relays", 1), place("load", 1)},
			"The target and the backends share CPU 0 (in all 3 runs); the relays and the load generator share CPU 1 (in all 3 runs). Rates and latencies are of the target"},
		{"backends and relays", nil, []record.Process{place("sut", 0), place("backends", 1), place("relays", 1)},
			"The backends and the relays share CPU 1 (in all 3 runs). What one of them uses the other has not."},
		{"some are pinned on a part of a machine", []int{4, 5, 6, 7}, []record.Process{place("sut"), place("load", 7)},
			"The target and the load generator share CPU 7 (in all 3 runs). "},
		{"nothing is pinned on a part of a machine", []int{4, 5, 6, 7}, []record.Process{place("sut"), place("load")},
			"The target and the load generator share CPUs 4-7 (in all 3 runs). "},
	} {
		f := newFixture()
		f.in.Environment.CPUIDs = c.ids
		f.cell(cellSpec{scenario: "s", target: "a", rates: around(1000)})
		for _, r := range f.in.Runs {
			r.Processes = c.with
		}
		switch got := said(t, f); {
		case c.want == "" && strings.Contains(got, "share CPU"):
			t.Errorf("%s: the findings say that CPUs are shared:\n%s", c.name, got)
		case strings.Count(got, c.want) != 1 && c.want != "":
			t.Errorf("%s: the findings do not say once %q:\n%s", c.name, c.want, got)
		}
	}
}
