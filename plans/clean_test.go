package plans_test

import (
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
)

// What churns in round2 begins behind the first second of its window, which its verdict by p99_clean_ms is without, at every size.
func TestRound2ChurnsBehindTheFirstSecond(t *testing.T) {
	for _, presets := range [][]string{nil, {"smoke"}} {
		prog, list := check("round2.yaml", presets, read)
		if len(list) > 0 {
			t.Fatal(list)
		}
		seen := 0
		for _, cell := range prog.Cells {
			for _, p := range cell.Scenario.Val.Phases {
				for _, a := range p.Val.Do {
					if p.Val.Kind != "churn" || !(record.Action{Kind: a.Val.Kind}).Touches() {
						continue
					}
					seen++
					if at := a.Val.At.In(time.Duration(p.Val.For)); at <= time.Second {
						t.Errorf("%v: %s: %s begins %v into its phase", presets, cell.Coord.CellName(), a.Val.Kind, at)
					}
				}
			}
		}
		if seen == 0 {
			t.Errorf("%v: nothing churns", presets)
		}
	}
}
