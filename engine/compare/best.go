package compare

import (
	"strings"

	"github.com/planrun/planrun/engine/series"
)

// Best is the index of the side with the best value of a metric among those that have one which is not distorted; -1 if
// none has. Of equal ones the first is the best.
func Best(m Name, d series.Desc, sides []Side, opt Options) int {
	best := -1
	var value float64
	for i, s := range sides {
		if s.unfit(m, d, opt) != "" {
			continue
		}
		v := s.read(m).Value
		if best < 0 || d.Better == series.Lower && v < value || d.Better != series.Lower && v > value {
			best, value = i, v
		}
	}
	return best
}

// Unfit says which sides cannot be the best, and why.
func Unfit(m Name, d series.Desc, sides []Side, opt Options) (out []string) {
	for _, s := range sides {
		why := s.unfit(m, d, opt)
		if why == "" {
			continue
		}
		if !strings.Contains(why, s.Name) {
			why = s.Name + ": " + why
		}
		out = append(out, why)
	}
	return out
}

func (s Side) unfit(m Name, d series.Desc, opt Options) string {
	if r := s.read(m); r.Why != "" {
		return r.Why
	}
	return s.distorted(d, opt)
}
