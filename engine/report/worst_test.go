package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// Judgements that failed are sorted by their distance from the limit, or left in the plan's order where that is not known of each.
func TestWorstFirst(t *testing.T) {
	t.Parallel()
	unknown := math.NaN()
	for _, c := range []struct {
		name string
		of   []float64
		want string // "" if not known
	}{
		{"the farthest first", []float64{97, 2201, 25}, "1 0 2"},
		{"as the plan has them, if alike", []float64{2, 3, 2}, "1 0 2"},
		{"0 is a distance", []float64{0, 2}, "1 0"},
		{"one alone", []float64{2}, ""},
		{"one is not known", []float64{2, unknown}, ""},
		{"none, as recorded before there were distances", []float64{unknown, unknown}, ""},
	} {
		var of []record.Judgement
		for i, d := range c.of {
			j := record.Judgement{Expression: "x < 1", Coord: record.Coord{Target: fmt.Sprint(i)}}
			if d == d {
				j.Distance = &d
			}
			of = append(of, j)
		}
		var got []string
		for _, j := range worstFirst(of) {
			got = append(got, j.Coord.Target)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the order is %q, want %q", c.name, s, c.want)
		}
	}
	d := 1.0
	if worstFirst([]record.Judgement{{Expression: "x < 1", Distance: &d}, {Expression: "x < 3", Distance: &d}}) != nil {
		t.Error("failures of two expressions are compared")
	}
}
