package measure

import (
	"math"

	"github.com/planrun/planrun/engine/series"
)

// Values of the header that a load counts by which are nobody's: answers without it, and those beyond the values that are
// told apart.
const (
	nobody = "(none)"
	others = "(other)"
)

// answererMetrics are of loads that count their answers by who gave them.
var answererMetrics = []loadMetric{
	{desc("answerers", "", series.Neither, series.Median, series.Count, "how many gave the answers: distinct values of the header that the load counts by"), true,
		func(s *loadSum) (float64, string) {
			n, _, why := s.answerers()
			return float64(len(n)), why
		}},
	{desc("answerers_max_share", "", series.Neither, series.Median, series.Count, "share of the answers that came from the one who gave most, of those that say from whom"), true,
		func(s *loadSum) (float64, string) {
			n, sum, why := s.answerers()
			if why != "" {
				return 0, why
			}
			return maxOf(n) / sum, ""
		}},
	{desc("answerers_cv", "", series.Lower, series.Median, series.Count, "how unevenly the answers came from those who gave any: population standard deviation by mean"), true,
		func(s *loadSum) (float64, string) {
			n, sum, why := s.answerers()
			if why != "" {
				return 0, why
			}
			m, squares := sum/float64(len(n)), 0.0
			for _, x := range n {
				squares += (x - m) * (x - m)
			}
			return math.Sqrt(squares/float64(len(n))) / m, ""
		}},
}

// answerers are the numbers of answers of those who gave any; there is at least one.
func (s *loadSum) answerers() (n []float64, sum float64, why string) {
	if s.counts.By[others] > 0 {
		return nil, 0, "more different values answered than are told apart"
	}
	for _, by := range sortedKeys(s.counts.By) {
		if v := float64(s.counts.By[by]); by != nobody && v > 0 {
			n, sum = append(n, v), sum+v
		}
	}
	switch {
	case !s.counting():
		return nil, 0, "no load counts by who answered"
	case len(n) == 0:
		return nil, 0, "no answer says who gave it"
	}
	return n, sum, ""
}

// counting reports whether one of the loads counts by who answered.
func (s *loadSum) counting() bool {
	for name := range s.loads {
		if l := s.ix.loads[name]; l != nil && l.Spec.By != "" {
			return true
		}
	}
	return false
}

// answers are the answers of a window by who gave them; nil if no load of it counts them.
func (ix *index) answers(w window) map[string]int64 {
	if len(w.loads) == 0 || w.process != "" {
		return nil
	}
	s := ix.sum(w.loads, w.counts)
	if !s.counting() || s.counts.Due == 0 {
		return nil
	}
	out := map[string]int64{}
	for by, n := range s.counts.By {
		out[by] = n
	}
	return out
}
