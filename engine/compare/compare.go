// Package compare sets one number beside another: two sides of a metric, their ratio, and what it may be taken for.
//
//  1. A Name says which number of a cell is meant, and Read gives it, with the runs that it is of, or why there is none.
//  2. A Side is a cell, and the same cell in other stages and in further sets, which is what the machine calls the same (A/A).
//  3. Metric compares two sides: no ratio where one has no value, where both are 0, or where too many requests of a side
//     failed for its latency to say anything; else the ratio with its noise (package stats). Of a peak of memory runs on
//     the same processes are no repeats, so its noise is not known.
//  4. An Outcome is what that says by the direction in which the metric is better. A side that a guard spoils is never
//     better nor worse.
//
// It reads records only, and puts no more words around them than the reasons why something cannot be said.
package compare

import (
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// A Side is one side of a comparison.
type Side struct {
	Name  string         // how texts call it
	Cell  *record.Cell   // nil if there is none; Why then says why
	Again []*record.Cell // the same cell in other stages
	Sets  []*record.Cell // the cell in each result set, where the side is several: Cell is then these Together
	Why   string
}

// Options of a comparison; the zero value works.
type Options struct {
	// DistortedAbove is the part of failed or slow requests above which a latency says nothing; zero is
	// stats.DistortedAbove.
	DistortedAbove float64
	// DistortsAll says that so many failed or slow requests leave no metric of a side a ratio, not its latencies alone.
	DistortsAll bool
	// Row are the cells that ran beside each other, both sides among them: each with the same cell in other stages, as Rows
	// and RowOf give them. What moves a whole row from one stage to another is then no noise of a ratio in it. Without a row each side
	// has only its own repeats.
	Row [][]*record.Cell
}

// A Comparison is one number of two sides.
type Comparison struct {
	Name   Name
	Of, To Reading
	// Ratio of Of to To; it is always that of the medians of the runs, or of the cells' values where no more than these is
	// known of a side. Its NA says why there is none.
	Ratio  stats.Ratio
	Better series.Better
	// Tainted are the guards that spoil a side, in words, that of Of first; empty where there is no ratio.
	Tainted []string
}

// Metric compares a number of two sides. Desc describes the metric.
func Metric(m Name, d series.Desc, of, to Side, opt Options) Comparison {
	c := Comparison{Name: m, Better: d.Better, Of: of.read(m), To: to.read(m)}
	switch {
	case c.Of.Why != "":
		c.Ratio.NA = c.Of.Why
	case c.To.Why != "":
		c.Ratio.NA = c.To.Why
	default:
		if c.Ratio.NA = of.distorted(d, opt); c.Ratio.NA == "" {
			c.Ratio.NA = to.distorted(d, opt)
		}
		if c.Ratio.NA == "" && c.Of.Only+c.To.Only != "" {
			c.Ratio = ofValues(m, of, to)
		} else if c.Ratio.NA == "" {
			stages := stagesIn(opt.Row, m, of, to)
			c.Ratio = stats.CompareIn(stages, of.Name, of.runs(m, c.Of, stages), to.Name, to.runs(m, c.To, stages))
		}
	}
	if c.Ratio.NA == "0/0" && c.Of.Value != c.To.Value { // of sums or peaks that one run alone has
		c.Ratio.NA = "0/0: the medians of the runs are both 0"
	}
	if c.Ratio.NA == "" && peak(d) && (of.Cell.Shared || to.Cell.Shared) {
		c.Ratio = ofPeaks(m, of, to, c.Ratio)
	}
	for _, r := range []Reading{c.Of, c.To} {
		if r.Tainted != "" && c.Ratio.NA == "" {
			c.Tainted = append(c.Tainted, r.Tainted)
		}
	}
	return c
}

// peak reports whether a metric is a high-water mark of memory: a process keeps it, and most of what it took, for all its life.
func peak(d series.Desc) bool { return d.Across == series.Max && d.Unit == "MiB" }

// ofPeaks is the ratio of a peak whose runs shared their processes: of as many values a side as it has sets, each of processes
// of its own. Where these are too few, the noise of the ratio that the runs have is not known.
func ofPeaks(m Name, of, to Side, runs stats.Ratio) stats.Ratio {
	bySet := func(s Side) (side stats.Side) {
		for _, c := range s.Sets {
			if r := Read(c, s.Name, m.perRun()); r.Why == "" {
				side.Runs = append(side.Runs, r.Value)
			}
		}
		return side
	}
	a, b := bySet(of), bySet(to)
	if min(len(a.Runs), len(b.Runs)) >= stats.MinRuns {
		return stats.Compare(of.Name, a, to.Name, b)
	}
	return stats.Ratio{Value: runs.Value, Low: runs.Low, High: runs.High, Noise: stats.Unknown,
		Why: "runs shared their processes, so they are no repeats of a peak of these (`fresh: run` gives each its own)"}
}

func (s Side) read(m Name) Reading {
	if s.Cell == nil {
		return Reading{Why: s.Why}
	}
	return Read(s.Cell, s.Name, m)
}

// distorted says why a metric of s says nothing, or "": a latency is of successes only, and too many requests failed or
// were slow; so it is with every metric, if that is asked for.
func (s Side) distorted(d series.Desc, opt Options) string {
	if (d.Unit != "ms" || d.Apart) && !opt.DistortsAll {
		return ""
	}
	total := func(name string) float64 { return stats.Sum(s.read(ParseName(name)).Runs) }
	return stats.Distorted(s.Name, total("requests"), total("failed"), total("slow_over_1s"), opt.DistortedAbove)
}

// runs adds to a side's values what the same cell gave in other sets, and in other stages where these do not have the ratio.
func (s Side) runs(m Name, r Reading, stages stats.Stages) stats.Side {
	side := stats.Side{Runs: r.Runs}
	if !stages.Repeated() {
		for _, c := range s.Again {
			if runs := s.elsewhere(c, m); runs != nil {
				side.Again = append(side.Again, stats.Median(runs))
			}
		}
	}
	for _, c := range s.Sets {
		if runs := s.elsewhere(c, m); runs != nil {
			side.Sets, side.Again = append(side.Sets, runs), append(side.Again, stats.Median(runs))
		}
	}
	return side
}

// elsewhere are the runs of a repeat of s; nil if it has none, or is s itself.
func (s Side) elsewhere(c *record.Cell, m Name) []float64 {
	if c == s.Cell || !c.Status.HasResults() {
		return nil
	}
	v := Read(c, s.Name, m.perRun())
	if v.Why != "" {
		return nil
	}
	return v.Runs
}
