package measure

import (
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// Wanted is what must be read of a run so that All gives the series of these names; it may then give others too, which are
// not to be used: what they are made of may be missing.
func Wanted(names []string) record.Part {
	var p record.Part
	for _, s := range loadSeries {
		if slices.Contains(names, s.desc.Name) {
			p.Seconds = true
			if s.hist != "" && !slices.Contains(p.Histograms, s.hist) {
				p.Histograms = append(p.Histograms, s.hist)
			}
		}
	}
	// A name ends with that of what was sampled; before it stands whose it is.
	p.Points = func(sampled string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			if strings.HasSuffix(name, sampled) || strings.HasSuffix(name, sampled+"_per_s") {
				return true
			}
			for _, c := range cpuParts {
				if strings.HasSuffix(name, c.name) && slices.Contains(c.of, sampled) {
					return true
				}
			}
			return false
		})
	}
	return p
}

// OfThreads reports whether Threads is made of a series.
func OfThreads(sampled string) bool { return sampled == threadCPU }
