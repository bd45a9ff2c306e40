// Package probes holds what a plan can sample, one file a kind.
//
// A probe never invents a number. What it cannot read it leaves out, and says why: Sample returns the error the first
// time that reason comes up, and nil from then on, so that a plan's events hold it once and not once a second. A
// counter starts at what the kernel says, which is rarely zero: only differences of a counter mean something.
package probes

import (
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

// Kinds lists every probe, sorted by name.
var Kinds = []dsl.Kind{
	backendConnectionsKind,
	balancerKind,
	cgroupKind,
	commandKind,
	envoyKind,
	haproxyStatsKind,
	hostKind,
	logKind,
	nginxStubStatusKind,
	processKind,
	prometheusKind,
	relayKind,
}

// kind makes a Kind of a probe type; what has no Sample does not compile.
func kind[P task.Probe](name, doc, short string, new func() P) dsl.Kind {
	return dsl.Kind{Name: name, Doc: doc, Short: short, New: func() any { return new() }}
}

// scans is shared by all probes, so that those that sample at about the same time cost one scan of /proc together.
var scans proctree.Cache

// shareFor is how old a shared scan may be. Points made from it carry the time at which it was made.
const shareFor = 50 * time.Millisecond

// mib is one MiB in bytes.
const mib = 1 << 20
