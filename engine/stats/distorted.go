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
		return fmt.Sprintf("distorted: %.3g %% of the requests of %s failed or took over a second once sent", 100*part, name)
	}
	return ""
}
