package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean gives the known name that s was meant to be, or the list where it is short, or nothing.
func didYouMean(s string, known []string) string {
	best, dist := "", 99
	for _, k := range known {
		if d := distance(s, k); d < dist {
			best, dist = k, d
		}
	}
	if s != "" && dist <= max(1, len(s)/3) {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) > 0 && len(known) <= 12 {
		return "known: " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
	}
	return ""
}

func join(hint string) string {
	if hint == "" {
		return ""
	}
	return "; " + hint
}

// distance is Levenshtein's.
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	d := make([]int, len(rb)+1)
	for j := range d {
		d[j] = j
	}
	for i := range ra {
		prev := d[0]
		d[0] = i + 1
		for j := range rb {
			cost := prev
			if ra[i] != rb[j] {
				cost++
			}
			prev = d[j+1]
			d[j+1] = min(d[j+1]+1, d[j]+1, cost)
		}
	}
	return d[len(rb)]
}
