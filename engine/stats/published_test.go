package stats

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPublished compares with the ratios of a published comparison. They were computed before rounding, so ours, of the
// rounded figures, may differ by what the rounding of both sides and of the printed ratio allows. Beside latencies the
// publication has no ratio of failure counts where a side is distorted.
func TestPublished(t *testing.T) {
	f, err := os.Open("testdata/published-ratios.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, r := range rows[1:] {
		metric, of, to, printed := r[1], r[2], r[3], r[4]
		na := ""
		if strings.HasSuffix(metric, "_ms") || metric == "failed" {
			na = Distorted(of, number(r[7]), number(r[8]), number(r[9]), 0) + Distorted(to, number(r[10]), number(r[11]), number(r[12]), 0)
		}
		got := Compare(of, Side{Runs: []float64{number(r[5])}}, to, Side{Runs: []float64{number(r[6])}})
		if got.NA == "" {
			got.NA = na
		}
		want, numeric := strings.CutSuffix(printed, "x")
		if numeric != (got.NA == "") {
			t.Errorf("%v: %v %q, printed %s", r[:4], got.Value, got.NA, printed)
			continue
		}
		if numeric {
			allowed := 0.005 + got.Value*(half(r[5])/number(r[5])+half(r[6])/number(r[6]))
			if math.Abs(got.Value-number(want)) > allowed+1e-9 {
				t.Errorf("%v: %.4f, printed %s, rounding allows %.4f", r[:4], got.Value, printed, allowed)
			}
		}
	}
}

// half is half a unit of the last printed digit.
func half(s string) float64 {
	_, decimals, _ := strings.Cut(s, ".")
	return 0.5 * math.Pow(10, -float64(len(decimals)))
}
