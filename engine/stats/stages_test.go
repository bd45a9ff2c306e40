package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drifting makes two stages in which cells of the same value are measured beside each other: what moves a stage as a whole has
// the deviation drift, what moves a cell from one to the other has own, of the last cell wild, and runs scatter by 2 %.
func drifting(r *rand.Rand, cells, runs int, drift, own, wild, lead float64) (s Stages, a, b Side) {
	s = Stages{At: "one", Row: make([]map[string]float64, cells)}
	sides := map[string][]Side{}
	for _, stage := range []string{"one", "back"} {
		all := drift * r.NormFloat64()
		for i := range cells {
			median := all + own*r.NormFloat64()
			if i == cells-1 && cells > 2 {
				median += wild * r.NormFloat64()
			}
			if i == 0 {
				median += lead
			}
			side := Side{Runs: lognormal(r, runs, math.Exp(median), 0.02)}
			if s.Row[i] == nil {
				s.Row[i] = map[string]float64{}
			}
			s.Row[i][stage], sides[stage] = Median(side.Runs), append(sides[stage], side)
		}
	}
	s.A, s.B = s.Row[0], s.Row[1]
	return s, sides["one"][0], sides["one"][1]
}

// What moves all cells of a stage hides no lead and makes none; what moves single cells makes no more of them than a few in a
// hundred once a row tells of it, also where it is larger than the scatter of the runs; and one cell that is restless hides
// no lead of others.
func TestStages(t *testing.T) {
	const runs, pairs = 4, 2000
	for _, c := range []struct {
		name             string
		cells            int
		drift, own, wild float64
		alarms           float64 // most A/A pairs that may be beyond the noise
		lead, found      float64 // the size of a lead, as a logarithm, and how many of these must be
	}{
		{"nothing moves", 5, 0, 0, 0, 0.02, 0.1, 0.95},
		{"the whole stage moves", 5, 0.3, 0, 0, 0.02, 0.1, 0.95},
		{"the whole stage moves, of two cells", 2, 0.3, 0, 0, 0.04, 0.1, 0.95},
		{"the whole stage moves, of three cells", 3, 0.3, 0, 0, 0.03, 0.15, 0.9},
		{"cells move as runs do", 5, 0.3, 0.02, 0, 0.06, 0.2, 0.95},
		{"cells move more than runs", 5, 0.3, 0.06, 0, 0.1, 0.5, 0.9},
		{"three cells move as runs do", 3, 0.3, 0.02, 0, 0.07, 0.3, 0.9},
		{"three cells move more than runs", 3, 0.3, 0.06, 0, 0.12, 0.8, 0.9},
		{"one of them is restless", 5, 0.3, 0, 0.5, 0.02, 0.15, 0.9},
	} {
		r := rand.New(rand.NewPCG(8, 4))
		alarms, found := 0, 0
		for range pairs {
			s, a, b := drifting(r, c.cells, runs, c.drift, c.own, c.wild, 0)
			if CompareIn(s, "a", a, "b", b).Noise == Beyond {
				alarms++
			}
			s, a, b = drifting(r, c.cells, runs, c.drift, c.own, c.wild, c.lead)
			if x := CompareIn(s, "a", a, "b", b); x.Noise == Beyond && x.Value > 1 {
				found++
			}
		}
		part, of := float64(alarms)/pairs, float64(found)/pairs
		t.Logf("%s: %.3f of A/A pairs are beyond the noise, %.3f of the leads of %.2f", c.name, part, of, math.Exp(c.lead))
		if part > c.alarms || of < c.found {
			t.Errorf("%s: %.3f of A/A pairs are beyond the noise (at most %v), %.3f of the leads of %.2f (at least %v)", c.name, part, c.alarms, of, math.Exp(c.lead), c.found)
		}
	}
}

// Worked by hand. The cells moved by ln 2 + 0.1, ln 2 - 0.1, ln 2 and ln 2 + 0.3; the median move is ln 2 + 0.05, so they are
// 0.05, 0.15, 0.05 and 0.25 off it, and t(0.975, 3) = 3.1824. The ratio of the first two moved by 0.2.
func TestRowApart(t *testing.T) {
	var row []map[string]float64
	for _, move := range []float64{0.1, -0.1, 0, 0.3} {
		row = append(row, map[string]float64{"one": 100, "back": 200 * math.Exp(move)})
	}
	row = append(row, map[string]float64{"one": 100}, map[string]float64{"one": 0, "back": 100}, nil)
	near(t, "a cell's move", Moves(row, "one", "back")[3], 0.25)
	if m := Moves(row, "one", "back")[4]; !math.IsNaN(m) {
		t.Errorf("a cell that is in one stage moved by %v", m)
	}
	got, ok := RowApart(row, "one", "back")
	near(t, "the row", got, 3.1824*1.4826*0.1)
	s := Stages{At: "one", A: row[0], B: row[1], Row: row}
	if !ok || !s.Repeated() {
		t.Error("the row is not repeated")
	}
	near(t, "the ratio, of the row", furthest(s), got)
	// A stage that repeats two of the cells alone adds their ratio, and takes nothing from what the row tells.
	row[0]["zz"], row[1]["zz"] = 100, 100
	near(t, "the row, with a stage of two cells", furthest(s), got)
	row[0]["zz"] = 300
	near(t, "the ratio, with a stage of two cells", furthest(s), math.Log(3))
	// One that repeats three adds their moves: ln 3, 0 and 0 are those of the median cell, so |m| are 0, 0, 0.05, 0.05, 0.15,
	// 0.25 and ln 3, and t(0.975, 5) = 2.5706.
	row[2]["zz"] = 100
	all, _ := RowApart(row, "one", "back", "zz")
	near(t, "the row, of two stages", all, 2.5706*1.4826*0.05)
	delete(row[0], "zz")
	delete(row[1], "zz")
	delete(row[2], "zz")
	s.Row = row[:2]
	near(t, "the ratio, of itself", furthest(s), 0.2)
	if _, ok := RowApart(row[:2], "one", "back"); ok {
		t.Error("two cells tell how far others move")
	}
	s.B = map[string]float64{"one": 100}
	if s.Repeated() || furthest(s) != 0 {
		t.Errorf("a ratio that no other stage has is %v apart", furthest(s))
	}
	a, b := Side{Runs: []float64{100, 100, 100}}, Side{Runs: []float64{100, 100, 100}}
	near(t, "the part of stages in a floor", CompareIn(Stages{At: "one", A: row[0], B: row[1], Row: row}, "a", a, "b", b).Repeats, math.Exp(got))
	r := CompareIn(Stages{At: "one", A: row[0], B: row[1], Row: row}, "a", a, "b", b)
	near(t, "the part of the row in it", r.Row, r.Repeats)
	near(t, "the part of the ratio itself", r.Own, math.Exp(0.2))
}

// furthest is the larger part of what stages tell of a ratio.
func furthest(s Stages) float64 {
	own, row := s.apart()
	return max(own, row)
}
