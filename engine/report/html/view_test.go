package html

import (
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// A verdict that holds is folded, however short; one that does not hold everywhere, or was judged nowhere, is open.
func TestUnfolded(t *testing.T) {
	for _, c := range []struct {
		outcomes []string
		want     bool
	}{{[]string{record.Pass}, false}, {[]string{record.NotSupported, record.Pass}, false}, {[]string{record.Fail, record.Pass}, true},
		{[]string{record.Inconclusive, record.Pass}, true}, {[]string{record.NotJudged}, true}} {
		var v report.Verdict
		for _, o := range c.outcomes {
			v.Judged = append(v.Judged, report.Judged{Outcome: o})
		}
		if got := unfolded(v); got != c.want {
			t.Errorf("%v: unfolded is %v", c.outcomes, got)
		}
	}
}
