package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

// results has the given stages, in each of which the rate of every target of one scenario is what rates says.
func results(stages []record.Stage, rates map[string]map[string][]float64) *record.Results {
	res := &record.Results{Stages: stages, Descs: map[string]series.Desc{"req_per_s": rate}}
	for _, s := range stages {
		for _, target := range []string{"a", "b", "c", "d"} {
			if v := rates[s.Name][target]; v != nil {
				c := of(rate, v...)
				c.Coord = record.Coord{Stage: s.Name, Scenario: "s", Target: target}
				res.Cells = append(res.Cells, *c)
			}
		}
	}
	return res
}

func ofRate([]*record.Cell) []Name { return []Name{ParseName("req_per_s")} }

func places(cells []*record.Cell) string {
	var s []string
	for _, c := range cells {
		s = append(s, c.Coord.Stage+"/"+c.Coord.Target)
	}
	return strings.Join(s, " ")
}

// A stage with another order repeats the first; one that leaves probes out or determined something else does not.
func TestRepeats(t *testing.T) {
	all := map[string][]float64{"a": {1, 1, 1}, "b": {2, 2, 2}}
	res := results([]record.Stage{
		{Name: "one", Order: "blocked", Params: map[string]any{"rate": 100.0}},
		{Name: "back", Order: "reverse", Params: map[string]any{"rate": 100.0, "other": 1.0}},
		{Name: "back", Round: 2, Params: map[string]any{"rate": 101.0}}, // of rounds the first counts
		{Name: "blind", Without: []string{"all"}, Params: map[string]any{"rate": 100.0}},
		{Name: "blind-again", Order: "reverse", Without: []string{"all"}},
		{Name: "faster", Params: map[string]any{"rate": 200.0}},
	}, map[string]map[string][]float64{"one": all, "back": {"b": {2, 2, 2}}, "blind": all, "blind-again": {"a": {1, 1, 1}}, "faster": all})
	// The stages above have two entries of one name; results made its cells twice.
	res.Cells = append(res.Cells[:3], res.Cells[4:]...)
	again := Repeats(res)
	for i, want := range []string{"one/a", "one/b back/b", "back/b one/b", "blind/a blind-again/a", "blind/b", "blind-again/a blind/a", "faster/a", "faster/b"} {
		if got := places(again[&res.Cells[i]]); got != want {
			t.Errorf("cell %d: %s, want %s", i, got, want)
		}
	}

	var got []string
	for _, r := range Reruns(res) {
		words := r.Second.Name + " of " + r.First.Name + ":"
		for _, p := range r.Pairs {
			words += " " + p.Second.Coord.Target
		}
		got = append(got, words+" "+r.Why)
	}
	want := []string{
		"back of one: b ",
		"blind of one: a b one leaves out no probe, blind all probes",
		"blind-again of blind: a ",
		"faster of one: a b one had rate = 100, faster 200",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("reruns:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	watched := Watched(res)
	if len(watched) != 2 {
		t.Fatalf("%d cells have a control arm, want 2: %+v", len(watched), watched)
	}
	if w := watched[0]; places(w.Watched.Again) != "one/a" || places(w.Alone.Again) != "blind/a blind-again/a" || w.Without != "all probes" {
		t.Errorf("watched %s, alone %s, without %s", places(w.Watched.Again), places(w.Alone.Again), w.Without)
	}
}

// The control arm is no A/A repeat, so it raises no floor.
func TestControlArmIsNoNoise(t *testing.T) {
	res := results([]record.Stage{{Name: "one"}, {Name: "blind", Without: []string{"host"}}},
		map[string]map[string][]float64{"one": {"a": around(100)}, "blind": {"a": around(150)}})
	if f := Floors(res, ofRate); len(f) != 1 || f[0].Stages != 0 || f[0].Cells != 1 {
		t.Errorf("floors %+v", f)
	}
	w := Watched(res)
	if len(w) != 1 {
		t.Fatalf("watched: %+v", w)
	}
	if c := Metric(ParseName("req_per_s"), rate, w[0].Watched, w[0].Alone, Options{}); c.Outcome() != Worse || math.Abs(c.Ratio.Value-100./150) > 1e-9 {
		t.Errorf("watching costs %v, %s", c.Ratio.Value, c.Outcome())
	}
}

func TestFloor(t *testing.T) {
	res := results([]record.Stage{{Name: "one"}, {Name: "back"}}, map[string]map[string][]float64{
		"one":  {"a": {1, 1.1, 1.21}, "b": {200, 200, 200}, "c": {5}},
		"back": {"b": {210, 210, 210}},
	})
	all := Floors(res, ofRate)
	if len(all) != 1 {
		t.Fatalf("%d floors, want that of the rate: %+v", len(all), all)
	}
	f := all[0]
	// Logarithms 0, ln 1.1, ln 1.21 and two cells without any spread: s^2 = 2 ln(1.1)^2 / 6; the fewest runs are 1 a cell, and
	// t(0.975, 6) = 2.4469.
	s := math.Log(1.1) * math.Sqrt(2./6)
	if f.Spread.Freedom != 6 || math.Abs(f.Spread.Deviation-s) > 1e-12 || math.Abs(math.Log(f.Chance)-2.4469*s*math.Sqrt2) > 1e-4 {
		t.Errorf("chance %v of %+v", f.Chance, f.Spread)
	}
	if math.Abs(f.Stages-1.05) > 1e-12 || f.Apart.First == nil || f.Apart.First.Coord.Target != "b" {
		t.Errorf("between stages %v, %+v", f.Stages, f.Apart)
	}
	if f.Factor() != max(f.Chance, f.Stages) || f.Runs != 1 || f.Cells != 4 || f.Worst == nil || f.Worst.Coord.Target != "a" || f.CV != 0 {
		t.Errorf("%+v", f)
	}
	for _, tc := range []struct {
		runs []float64
		why  string
	}{{[]float64{2, 2, 2, 2, 2}, "all runs of a cell gave the same value"}, {[]float64{1, 2, 3}, "too few runs: one cell has 3, and no stage repeats it; 5 of it"}, {[]float64{1, 2}, "too few runs (the fewest of a cell is 2, and no stage repeats one): 3 a cell are needed"}, {[]float64{0, 0, 0}, "each cell has a run that gave 0"}, {nil, "req_per_s: no cell has a value"}} {
		res := results([]record.Stage{{Name: "one"}}, map[string]map[string][]float64{"one": {"a": tc.runs}})
		var cells []*record.Cell
		for i := range res.Cells {
			cells = append(cells, &res.Cells[i])
		}
		if f := floorOf(cells, Repeats(res), ParseName("req_per_s")); !strings.HasPrefix(f.Why, tc.why) || f.Factor() != 0 {
			t.Errorf("%v: %q, floor %v", tc.runs, f.Why, f.Factor())
		}
	}
}

// Targets that are all the same lie within their scenario's floor in about 95 % of comparisons; without the repeats in a
// second stage, which raise it.
func TestFloorHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	beyond, all := 0, 0
	for range 2000 {
		rates := map[string][]float64{}
		for _, target := range []string{"a", "b", "c", "d"} {
			for range 4 {
				rates[target] = append(rates[target], 100*math.Exp(0.03*r.NormFloat64()))
			}
		}
		res := results([]record.Stage{{Name: "one"}}, map[string]map[string][]float64{"one": rates})
		f := Floors(res, ofRate)[0].Factor()
		for i := 1; i < len(res.Cells); i++ {
			ratio := res.Cells[i].Metrics[""].Value("req_per_s").Value / res.Cells[0].Metrics[""].Value("req_per_s").Value
			if all++; ratio > f || 1/ratio > f {
				beyond++
			}
		}
	}
	if part := float64(beyond) / float64(all); part < 0.04 || part > 0.09 { // of medians: a little more than 5 %
		t.Errorf("%.3f of A/A comparisons are beyond the floor", part)
	} else {
		t.Logf("%.3f of %d A/A comparisons are beyond the floor", part, all)
	}
}

// What moves a whole stage is no noise of a ratio in it, nor of the scenario; a cell that moves by itself is.
func TestRows(t *testing.T) {
	stages := []record.Stage{{Name: "one"}, {Name: "back"}, {Name: "blind", Without: []string{"all"}}}
	times := func(by float64) []float64 { return []float64{100 * by, 101 * by, 99 * by} }
	of := func(rates map[string]map[string][]float64) (*record.Results, map[*record.Cell][][]*record.Cell, map[*record.Cell][]*record.Cell) {
		res := results(stages, rates)
		again := Repeats(res)
		return res, Rows(res, again), again
	}
	res, rows, again := of(map[string]map[string][]float64{
		"one":   {"a": times(1.5), "b": times(1), "c": times(1)},
		"back":  {"a": times(3), "b": times(2), "c": times(2)},
		"blind": {"a": times(1), "b": times(9)},
	})
	var row string
	for _, cells := range rows[&res.Cells[0]] {
		row += places(cells) + "; "
	}
	if want := "one/a back/a; one/b back/b; one/c back/c; "; row != want {
		t.Errorf("the row is %s, want %s", row, want)
	}
	sides := func(i, j int) (Side, Side) {
		a, b := &res.Cells[i], &res.Cells[j]
		return Side{Name: a.Coord.Target, Cell: a, Again: again[a]}, Side{Name: b.Coord.Target, Cell: b, Again: again[b]}
	}
	name := ParseName("req_per_s")
	a, b := sides(0, 1)
	if c := Metric(name, rate, a, b, Options{Row: rows[a.Cell]}); c.Outcome() != Better || c.Ratio.Repeats != 1 {
		t.Errorf("a lead that both stages have is %s, stages are %v apart", c.Outcome(), c.Ratio.Repeats)
	}
	if c := Metric(name, rate, a, b, Options{}); c.Outcome() != WithinNoise || math.Abs(c.Ratio.Repeats-2) > 1e-9 {
		t.Errorf("without its row it is %s, stages are %v apart", c.Outcome(), c.Ratio.Repeats)
	}
	if a, other := sides(0, 4); other.Cell.Coord.Stage != "back" {
		t.Fatal("cell 4 is not of the other stage")
	} else if c := Metric(name, rate, a, other, Options{Row: rows[a.Cell]}); math.Abs(c.Ratio.Repeats-2) > 1e-9 {
		t.Errorf("of cells of two stages the repeats are %v apart, want 2", c.Ratio.Repeats)
	}
	if f := Floors(res, ofRate); len(f) != 1 || f[0].Stages != 1 {
		t.Errorf("floors %+v", f)
	}

	res, rows, again = of(map[string]map[string][]float64{
		"one":  {"a": times(1.5), "b": times(1)},
		"back": {"a": times(2), "b": times(2)},
	})
	a, b = sides(0, 1)
	if c := Metric(name, rate, a, b, Options{Row: rows[a.Cell]}); c.Outcome() != WithinNoise || math.Abs(c.Ratio.Repeats-1.5) > 1e-9 {
		t.Errorf("a lead that one stage has is %s, stages are %v apart", c.Outcome(), c.Ratio.Repeats)
	}
	if f := Floors(res, ofRate); len(f) != 1 || math.Abs(f[0].Stages-1.5) > 1e-9 {
		t.Errorf("floors %+v", f)
	}
	// One that only one of the stages has is left to its own repeats.
	res, rows, again = of(map[string]map[string][]float64{"one": {"a": times(1.5), "b": times(1)}, "back": {"a": times(2)}})
	a, b = sides(0, 1)
	if c := Metric(name, rate, a, b, Options{Row: rows[a.Cell]}); math.Abs(c.Ratio.Repeats-2/1.5) > 1e-9 {
		t.Errorf("of a cell whose other side was not repeated the stages are %v apart", c.Ratio.Repeats)
	}
	// A cell without results has the row of those beside it.
	res.Cells = append(res.Cells, record.Cell{Coord: record.Coord{Stage: "one", Scenario: "s", Target: "0"}, Status: record.Unsupported})
	if row := Rows(res, Repeats(res))[&res.Cells[len(res.Cells)-1]]; len(row) != 2 {
		t.Errorf("a cell without results is in a row of %d, want the 2 others", len(row))
	}
}
