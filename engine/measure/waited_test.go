package measure

import (
	"slices"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// stalled is the example with its headline load as an open loop whose connections were all in use for a while: in seconds 2 and 3
// a part of the requests is sent late, in 6 some never, in 4 the generator itself was late too, and in 5 no request was more than 50 ms later than it.
func stalled() *record.Data {
	d := example()
	d.Run.Loads[0].Spec.Rate = []load.RateStep{{From: 100, To: 100}}
	for i := range d.Seconds {
		s := &d.Seconds[i]
		s.Lag = hist(25, time.Millisecond, 2*time.Millisecond)
		switch s.Second {
		case 2:
			s.Lag = hist(25, 20*time.Millisecond, 1900*time.Millisecond)
		case 3:
			s.Lag, s.Counts.Sent = hist(25, 900*time.Millisecond, 60*time.Millisecond), 0
		case 4:
			s.Lag, s.Counts.StalledLagNs = hist(25, 100*time.Millisecond, 300*time.Millisecond), int64(200*time.Millisecond)
		case 5:
			s.Lag, s.Counts.StalledLagNs = hist(25, 60*time.Millisecond, 80*time.Millisecond), int64(40*time.Millisecond)
		case 6:
			s.Lag = hist(24, time.Millisecond, 2*time.Millisecond) // of 50; one was dropped, and the connection of one refused
			s.Counts.Errors = map[string]int64{load.Dropped: 1, load.Connect: 1}
			s.Counts.OK, s.Counts.Non2xx = 48, nil
		}
	}
	return d
}

func TestWaited(t *testing.T) {
	d := stalled()
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"waited": 2 * (25 + 50 + 25 + 1)})
	wantMetrics(t, d.Run.Metrics["phase/measure"], map[string]float64{"waited": 2 * (25 + 50 + 25)})
	// The report takes counts from the windows of loads: they are those of the seconds.
	all, measure := 0.0, 0.0
	for _, s := range WaitedSeconds(d) {
		all += float64(s.Waited)
		if s.Phase == "measure" {
			measure += float64(s.Waited)
		}
	}
	wantMetrics(t, d.Run.Metrics["load/main"], map[string]float64{"waited": all})
	wantMetrics(t, d.Run.Metrics["phase/measure/load/main"], map[string]float64{"waited": measure})
	if v, ok := d.Run.Metrics["load/side"].Get("waited"); ok || d.Run.Missing["load/side/waited"] == "" {
		t.Errorf("a closed loop has waited = %v, why not: %q", v, d.Run.Missing["load/side/waited"])
	}
}

// Without the histograms, which a torn log lacks, a request that succeeded is none that was never sent.
func TestWaitedWithoutHistograms(t *testing.T) {
	d := stalled()
	for i := range d.Seconds {
		d.Seconds[i].Lag = nil
	}
	Derive(d)
	wantMetrics(t, d.Run.Metrics[""], map[string]float64{"waited": 2})
}

func TestWaitedSeconds(t *testing.T) {
	got := WaitedSeconds(stalled())
	for i := range got { // to the histogram's accuracy
		got[i].Longest = got[i].Longest.Round(10 * time.Millisecond)
	}
	want := []record.WaitedSecond{
		{Load: "main", T: 2, Phase: "measure", Waited: 50, Longest: 1900 * time.Millisecond, Sent: 100},
		{Load: "main", T: 3, Phase: "measure", Waited: 100, Longest: 900 * time.Millisecond},
		{Load: "main", T: 4, Phase: "measure", Waited: 50, Longest: 100 * time.Millisecond, Sent: 100},
		{Load: "main", T: 6, Phase: "after", Waited: 2, Sent: 100},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
