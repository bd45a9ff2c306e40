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
	if dist < len(s) && dist <= max(1, len(s)/3) {
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

// distance counts inserted, deleted, replaced and swapped letters (optimal string alignment).
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	rows := make([][]int, len(ra)+1)
	for i := range rows {
		rows[i] = make([]int, len(rb)+1)
		rows[i][0] = i
	}
	for j := range rb {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(ra); i++ {
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(ra)][len(rb)]
}
