package stats

import "fmt"

// DistortedAbove is the part of failed or slow requests above which a latency says nothing about a side.
const DistortedAbove = 0.001

// Distorted says why a latency of name says nothing, or "". Failed and slow are counts among requests; above 0 means
// DistortedAbove. Without requests nothing is said.
func Distorted(name string, requests, failed, slow, above float64) string {
	if above == 0 {
		above = DistortedAbove
	}
	if requests <= 0 {
		return ""
	}
	if part := (failed + slow) / requests; part > above {
		return fmt.Sprintf("distorted: %.3g %% of the requests of %s failed or were slow", 100*part, name)
	}
	return ""
}

// Best is the index of the side with the best median, or -1 where no side has values. Leave sides out that a ratio could
// not use (a distorted latency) by giving them no runs.
func Best(sides []Side, higherIsBetter bool) int {
	best := -1
	for i, s := range sides {
		if len(s.Runs) == 0 {
			continue
		}
		if m := Median(s.Runs); best < 0 || higherIsBetter == (m > Median(sides[best].Runs)) && m != Median(sides[best].Runs) {
			best = i
		}
	}
	return best
}
