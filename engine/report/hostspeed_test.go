package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// Targets for which the host was not equally fast are named, those for which it was not.
func TestSlowedHostIsSaid(t *testing.T) {
	for _, c := range []struct {
		a, b float64 // 0: not known
		want string
	}{
		{10, 9.7, ""},
		{10, 0, ""},
		{10, 9, "The host was not equally fast for all targets of 1 comparison: s (10 % slower for b than for a). CPU times and rates may differ for that alone (host_speed is the rate of a fixed piece of work, by its own CPU time)."},
		{8, 10, "The host was not equally fast for all targets of 1 comparison: s (20 % slower for a than for b). CPU times and rates may differ for that alone (host_speed is the rate of a fixed piece of work, by its own CPU time)."},
	} {
		b := two(cellSpec{rates: around(2000)}, cellSpec{rates: around(1000)})
		for i, v := range []float64{c.a, c.b} {
			if v > 0 {
				b.res.Cells[i].Metrics[""].Set("host_speed", record.Value{Value: v, Runs: around(v)})
			}
		}
		items := b.slowed()
		var got strings.Builder
		for _, item := range items {
			for _, s := range item {
				got.WriteString(s.Text)
			}
		}
		if got.String() != c.want {
			t.Errorf("speeds %v and %v: %q, want %q", c.a, c.b, got.String(), c.want)
		}
	}
}
