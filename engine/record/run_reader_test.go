package record

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/planrun/planrun/internal/load"
)

// The histograms of a second are added whatever ranges they were written with, and in whatever order they come.
func TestHistogramsOfOtherRanges(t *testing.T) {
	narrow := hdrhistogram.New(1, 1_000_000, 2)
	if err := narrow.RecordValue(900_000); err != nil {
		t.Fatal(err)
	}
	for name, order := range map[string][]*hdrhistogram.Histogram{
		"ours first":      {hist(50 * time.Millisecond).Raw(), narrow},
		"another's first": {narrow, hist(50 * time.Millisecond).Raw()},
	} {
		k := histKey{secondKey{"main", "measure", 0}, "latency"}
		j := join{part: Part{Histograms: []string{"latency"}}, sums: map[secondKey]*load.Second{k.secondKey: {}}, notes: &notes{},
			hists: map[histKey]*histSum{k: {histLine: histLine{N: 2, Min: 900_000, Max: 50_000_000}}}, where: map[hlogKey]histKey{{"main/measure/latency", 0}: k}}
		for _, h := range order {
			h.SetTag("main/measure/latency")
			var b bytes.Buffer
			if err := hdrhistogram.NewHistogramLogWriter(&b).OutputIntervalHistogram(h); err != nil {
				t.Fatal(err)
			}
			if err := j.hlogLine([]byte(strings.TrimSpace(b.String()))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		s := j.seconds()
		if notes := j.notes.all(); len(notes) > 0 || s[0].Latency.Count() != 2 || s[0].Latency.Quantile(1) < 49e6 {
			t.Errorf("%s: %v, %v", name, s[0].Latency, notes)
		}
	}
}
