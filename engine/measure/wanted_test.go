package measure

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// What is wanted for a series gives the same series as everything does, whatever the series is.
func TestWanted(t *testing.T) {
	whole := example()
	all := All(whole)
	if len(all) < 20 {
		t.Fatalf("the example has only %d series", len(all))
	}
	for _, name := range sortedKeys(all) {
		p := Wanted([]string{name})
		part := &record.Data{Run: whole.Run}
		for _, x := range whole.Points {
			if p.Points(x.Series) {
				part.Points = append(part.Points, x)
			}
		}
		if p.Seconds {
			part.Seconds = slices.Clone(whole.Seconds)
		}
		for i := range part.Seconds {
			x := part.Seconds[i]
			part.Seconds[i] = load.Second{Load: x.Load, Worker: x.Worker, Phase: x.Phase, Second: x.Second, Counts: x.Counts}
			if slices.Contains(p.Histograms, "latency") {
				part.Seconds[i].Latency = x.Latency
			}
			if slices.Contains(p.Histograms, "lag") {
				part.Seconds[i].Lag = x.Lag
			}
		}
		if diff := cmp.Diff(all[name], All(part)[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(part.Points) == len(whole.Points) {
			t.Errorf("%s wants every point", name)
		}
	}
	if p := Wanted([]string{"sut_rss_mib"}); p.Seconds || p.Histograms != nil || p.Points("fds") {
		t.Errorf("the memory of the target wants %+v", p)
	}
	if p := Wanted([]string{"failed"}); !p.Seconds || p.Histograms != nil {
		t.Errorf("what failed wants %+v", p)
	}
}
