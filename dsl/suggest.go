package dsl

import (
	"fmt"
	"strings"
)

func quote(s string) string { return `"` + strings.ReplaceAll(s, "\n", " ") + `"` }

// nearest returns the known name that is a typing error away from name, or "".
func nearest(name string, known []string) string {
	best, bestDist := "", 1+min(len(name), 9)/3
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k), bestDist); d < bestDist || d == bestDist && best == "" {
			best, bestDist = k, d
		}
	}
	if best != "" && bestDist <= max(1, min(len(name), 9)/3) {
		return best
	}
	return ""
}

// distance is the number of letters to insert, delete, replace or swap with a neighbour to get from a to b; more than
// limit is limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	prev2, prev, cur := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, make([]int, len(b)+1)
	}
	return min(prev[len(b)], limit+1)
}

// Suggest says what to write instead of a name that is not known: the nearest of the known ones, or all of them. What
// is what they are, in the plural.
func Suggest(name string, known []string, what string) string {
	if n := nearest(name, known); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(known) == 0 {
		return fmt.Sprintf("there are no %s", what)
	}
	return fmt.Sprintf("%s: %s", what, list(known))
}

// list joins names, cut short where there are very many.
func list(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
