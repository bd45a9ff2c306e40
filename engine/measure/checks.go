package measure

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// mostGaps is the share of a probe's samples that may be missing before the probe counts as one that did not report. A
// busy machine misses some; the figures are then of those that there are.
const mostGaps = 0.5

// Checks says whether the harness itself worked: a failed one is the harness's fault, never the target's. Runs that were
// ended by an interrupt or an error are not held against their loads.
func Checks(d *record.Data) []record.Guard {
	c := &checks{d: d, ix: newIndex(d)}
	c.workers()
	c.probes()
	c.reconcile()
	c.origin()
	c.files()
	return c.out
}

type checks struct {
	d   *record.Data
	ix  *index
	out []record.Guard
}

func (c *checks) add(name, load string, ok bool, format string, args ...any) {
	c.out = append(c.out, record.Guard{Name: name, Load: load, OK: ok, Message: fmt.Sprintf(format, args...)})
}

func (c *checks) ended() bool {
	switch c.d.Run.Status {
	case record.Failed, record.Interrupted, record.Unfinished:
		return false
	}
	return true
}

func (c *checks) workers() {
	for _, l := range c.d.Run.Loads {
		switch {
		case l.Reported < l.Workers:
			c.add("workers-reported", l.Name, !c.ended(), "only %d of %s of load %s reported", l.Reported, plural.Of(l.Workers, "worker"), l.Name)
		case !l.Final:
			c.add("workers-reported", l.Name, !c.ended(), "not every worker of load %s sent its last report", l.Name)
		default:
			c.add("workers-reported", l.Name, true, "%d of %s of load %s reported to the end", l.Reported, plural.Of(l.Workers, "worker"), l.Name)
		}
	}
}

// probes reads the series probe_gaps: each sample of a probe emits how many it has missed so far.
func (c *checks) probes() {
	ok := true
	for _, tr := range c.ix.tracks {
		if tr.series != probeGaps {
			continue
		}
		missed, samples := tr.v[len(tr.v)-1], float64(len(tr.v))
		if share := missed / (missed + samples); share > mostGaps {
			ok = false
			c.add("probes-reported", "", !c.ended(), "probe %s missed %.0f of %.0f samples (%s; at most %s)", tr.source, missed, missed+samples, percent(share), percent(mostGaps))
		}
	}
	for _, s := range c.d.Run.Series {
		if !perProcess(s.Name) || len(c.d.Run.Processes) == 0 {
			continue
		}
		if !c.has(s.Name) && s.Name == cpuUser {
			ok = false
			c.add("probes-reported", "", !c.ended(), "no sample of %s was recorded of any process", s.Name)
		}
	}
	for _, name := range sortedKeys(c.d.Run.Facts.ProbeGaps) {
		if n := c.d.Run.Facts.ProbeGaps[name]; float64(n) > mostGaps*max(c.d.Run.Seconds, 1) && !c.has(probeGaps) {
			ok = false
			c.add("probes-reported", "", !c.ended(), "probe %s missed %s in %.0f s", name, plural.Of(int(n), "sample"), c.d.Run.Seconds)
		}
	}
	if ok {
		c.add("probes-reported", "", true, "all probes reported")
	}
}

func (c *checks) has(name string) bool {
	for _, tr := range c.ix.tracks {
		if tr.series == name {
			return true
		}
	}
	return false
}

// reconcile compares what the workers reported second by second with itself and with their totals at the end.
func (c *checks) reconcile() {
	for i := range c.d.Run.Loads {
		l := &c.d.Run.Loads[i]
		byPhase := map[string]*load.Counts{}
		for k := range c.ix.pieces {
			p := &c.ix.pieces[k]
			if p.Load != l.Name {
				continue
			}
			if byPhase[p.Phase] == nil {
				byPhase[p.Phase] = &load.Counts{}
			}
			record.AddCounts(byPhase[p.Phase], p.Counts)
		}
		var wrong []string
		for _, phase := range sortedKeys(byPhase) {
			sum := byPhase[phase]
			if over := sum.OK + failed(sum) + sum.Generator; over != sum.Due {
				wrong = append(wrong, fmt.Sprintf("in phase %s %d requests were due, and %d had an outcome", phase, sum.Due, over))
			}
		}
		for _, phase := range sortedKeys(l.Totals) {
			want, got := l.Totals[phase], byPhase[phase]
			if got == nil {
				got = &load.Counts{}
			}
			if want.Due != got.Due || want.OK != got.OK || failed(&want) != failed(got) || want.Generator != got.Generator {
				wrong = append(wrong, fmt.Sprintf("in phase %s the workers counted %d due, %d ok, %d failed in all, and %d, %d, %d second by second",
					phase, want.Due, want.OK, failed(&want), got.Due, got.OK, failed(got)))
			}
		}
		if len(wrong) > 0 {
			c.add("counts-reconcile", l.Name, !c.ended(), "the counts of load %s do not reconcile: %s", l.Name, strings.Join(wrong, "; "))
			continue
		}
		c.add("counts-reconcile", l.Name, true, "every request of load %s has one outcome", l.Name)
	}
}

// origin is information: a proxy that answers by itself or tries again makes the two differ, rightly.
func (c *checks) origin() {
	got, known := record.OriginRequests(c.d.Run)
	if !known || len(c.d.Run.Loads) == 0 {
		return
	}
	sent := record.SentRequests(c.d.Run)
	c.add("origin-count", "", true, "the loads sent %d requests, verification included; the backends counted %.0f", sent, got)
}

func (c *checks) files() {
	if n := c.d.Run.Facts.Lost; n > 0 {
		c.add("files-written", "", false, "%s could not be written to the result set", plural.Of(int(n), "line"))
		return
	}
	if len(c.d.Notes) > 0 {
		c.add("files-written", "", !c.ended(), "the record has gaps: %s", strings.Join(c.d.Notes, "; "))
		return
	}
	c.add("files-written", "", true, "everything that was recorded was written")
}
