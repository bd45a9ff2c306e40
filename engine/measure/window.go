package measure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// A span is a stretch of the run's time, in seconds since it began. Of a phase, requests are chosen by the phase in which
// they were due; else by their second.
type span struct {
	phase    string
	from, to float64
}

// A window is what metrics are of.
type window struct {
	name    string
	rates   []span          // of rates, latencies and processes
	counts  []span          // of outcomes
	loads   map[string]bool // nil: none
	ofLoad  bool            // of one load: processes have no part in it
	process string          // of a replica
	replica int
}

// windows are all windows of a run, the headline first. Names are as package record says.
func windows(r *record.Run) []window {
	headline, all := map[string]bool{}, map[string]map[string]bool{} // of a name, all loads that were called so
	for _, l := range r.Loads {
		name := record.LoadName(l.Name)
		if all[name] == nil {
			all[name] = map[string]bool{}
		}
		all[name][l.Name] = true
		if l.Headline {
			headline[l.Name] = true
		}
	}
	rates, counts := headlineSpans(r.Phases), outcomeSpans(r)
	out := []window{{name: "", rates: rates, counts: counts, loads: headline}}
	for _, name := range sortedKeys(all) {
		out = append(out, window{name: "load/" + name, ofLoad: true, rates: rates, counts: counts, loads: all[name]})
	}
	var seen []string
	for _, p := range r.Phases {
		if slices.Contains(seen, p.Name) {
			continue
		}
		seen = append(seen, p.Name)
		spans := spansOf(r.Phases, func(q record.Phase) bool { return q.Name == p.Name })
		if len(spans) == 0 {
			continue
		}
		out = append(out, window{name: "phase/" + p.Name, rates: spans, counts: spans, loads: headline})
		for _, name := range sortedKeys(all) {
			out = append(out, window{name: "phase/" + p.Name + "/load/" + name, ofLoad: true, rates: spans, counts: spans, loads: all[name]})
		}
	}
	for _, p := range r.Processes {
		name := fmt.Sprintf("replica/%s/%d", p.Name, p.Replica)
		if !slices.ContainsFunc(out, func(w window) bool { return w.name == name }) {
			out = append(out, window{name: name, rates: rates, counts: counts, process: p.Name, replica: p.Replica})
		}
	}
	return out
}

// headlineSpans are the phases marked so; else those of kind measure; else all recorded ones. Which of these it is depends
// on what was planned: a run that ended before its measure phases has no headline.
func headlineSpans(phases []record.Phase) []span {
	for _, want := range []func(record.Phase) bool{
		func(p record.Phase) bool { return p.Headline },
		func(p record.Phase) bool { return p.Kind == "measure" },
	} {
		if slices.ContainsFunc(phases, want) {
			return spansOf(phases, want)
		}
	}
	return spansOf(phases, func(p record.Phase) bool { return p.Recorded })
}

// spansOf are those phases that are wanted and that began. Only the first one begins at 0.
func spansOf(phases []record.Phase, want func(record.Phase) bool) []span {
	var out []span
	for i, p := range phases {
		if want(p) && (i == 0 || p.Start > 0) {
			out = append(out, span{p.Name, p.Start, p.End})
		}
	}
	return out
}

// outcomeSpans are the spans whose outcomes count: the recorded phases, and what lies behind one where a load goes on through it.
func outcomeSpans(r *record.Run) (out []span) {
	for i, p := range r.Phases {
		if !p.Recorded || i > 0 && p.Start <= 0 {
			continue
		}
		out = append(out, span{p.Name, p.Start, p.End})
		behind := record.Between(p.Name)
		goesOn := func(l record.Load) bool { return l.Start < p.End && r.Counts(&l, behind) }
		if i+1 < len(r.Phases) && r.Phases[i+1].Start > p.End && slices.ContainsFunc(r.Loads, goesOn) {
			out = append(out, span{behind, p.End, r.Phases[i+1].Start})
		}
	}
	return out
}

func length(spans []span) float64 {
	sum := 0.0
	for _, s := range spans {
		sum += max(0, s.to-s.from)
	}
	return sum
}

// in reports whether a piece belongs to one of the spans.
func (p *piece) in(spans []span) bool {
	for _, s := range spans {
		if s.phase != "" && s.phase == p.Phase {
			return p.counts || !record.IsBetween(p.Phase)
		}
		if mid := p.start + 0.5; s.phase == "" && mid >= s.from && mid < s.to {
			return true
		}
	}
	return false
}

// covered is how much of the piece's second lies in the spans, in seconds.
func (p *piece) covered(spans []span) float64 {
	sum := 0.0
	for _, s := range spans {
		if s.phase == "" || s.phase == p.Phase {
			sum += max(0, min(s.to, p.start+1)-max(s.from, p.start))
		}
	}
	return sum
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
