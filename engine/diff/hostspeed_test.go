package diff_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record/recordtest"
)

// in is a cell for whose runs the host had such speeds.
func in(speeds ...float64) recordtest.Cell {
	c := nginx(100)
	c.Metrics["host_speed"] = speeds
	return c
}

// That the host was slower is said with what it may have changed, and only if it was slower by more than a word is worth.
func TestHostSpeedIsSaid(t *testing.T) {
	t.Parallel()
	cell := func(target string, speed float64) recordtest.Cell {
		c := in(around(speed)...)
		c.Target = target
		return c
	}
	set := func(speeds ...float64) (s recordtest.Set) {
		for i, v := range speeds {
			s.Cells = append(s.Cells, cell([]string{"nginx", "haproxy", "caddy"}[i], v))
		}
		return s
	}
	const slower = "environment: the host was 10 % slower in "
	for _, c := range []struct {
		name string
		a, b recordtest.Set
		want string
	}{
		{"as fast", set(10), set(10), ""},
		{"nearly as fast", set(10), set(9.7), ""},
		{"slower in B", set(10), set(9), slower + "B (pieces of reference work in a millisecond of CPU time: 10.0 in A, 9.00 in B), so CPU times and rates may differ for that alone, of main / h1 / nginx"},
		{"slower in A", set(9), set(10), slower + "A (pieces of reference work in a millisecond of CPU time: 9.00 in A, 10.0 in B), so CPU times and rates may differ for that alone, of main / h1 / nginx"},
		{"some cells", set(10, 10, 9), set(10, 9, 10), slower + "A (pieces of reference work in a millisecond of CPU time: 9.00 in A, 10.0 in B), so CPU times and rates may differ for that alone, of main / h1 / caddy\n" +
			slower + "B (pieces of reference work in a millisecond of CPU time: 10.0 in A, 9.00 in B), so CPU times and rates may differ for that alone, of main / h1 / haproxy"},
		{"in some runs of both", recordtest.Set{Cells: []recordtest.Cell{in(10, 5, 5.5)}}, recordtest.Set{Cells: []recordtest.Cell{in(10, 10.5, 5)}}, ""},
		{"not known of A", one(100), set(9), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := compareSets(t, open(t, "a", c.a), open(t, "b", c.b), diff.CompareOptions{})
			if got := words(d); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
			for _, r := range d.Rows {
				if strings.HasPrefix(r.Name.Text, "host_speed") {
					t.Error("the host's speed is among the usual figures")
				}
			}
		})
	}
}
