package html

import "math"

// mostPoints is how many points a line has at most.
const mostPoints = 600

// thin gives the points (x, y) of values, one for each second, in runs without gaps. Of more than most values the lowest and
// the highest of each bucket stay, in their order, so that no peak is lost.
func thin(values []*float64, most int) (runs [][][2]float64) {
	every := max(1, int(math.Ceil(2*float64(len(values))/float64(most))))
	if len(values) <= most {
		every = 1
	}
	var run [][2]float64
	end := func() {
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	for i := 0; i < len(values); i += every {
		lo, hi := -1, -1
		for j := i; j < min(i+every, len(values)); j++ {
			if values[j] == nil {
				continue
			}
			if lo < 0 || *values[j] < *values[lo] {
				lo = j
			}
			if hi < 0 || *values[j] > *values[hi] {
				hi = j
			}
		}
		if lo < 0 {
			end()
			continue
		}
		for _, j := range ordered(lo, hi) {
			run = append(run, [2]float64{float64(j) + 0.5, *values[j]})
		}
	}
	end()
	return runs
}

func ordered(a, b int) []int {
	switch {
	case a == b:
		return []int{a}
	case a > b:
		return []int{b, a}
	}
	return []int{a, b}
}
