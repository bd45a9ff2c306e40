package record

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// readLog is what an independent implementation says of a log.
type readLog struct {
	Intervals []struct {
		Tag        string
		Start, End float64 // milliseconds since the epoch
		readHist
	}
	Tags map[string]readHist
}

type readHist struct {
	N              int
	Min, Max, Mean float64
	Quantiles      []float64 // of quantiles
}

var quantiles = []float64{0.5, 0.9, 0.99, 0.999, 1}

// readByNode reads a log with hdr-histogram-js.
func readByNode(t *testing.T, path string) (out readLog) {
	t.Helper()
	cache, err := os.UserCacheDir() // as scripts/install-peers has it
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(cache, "planrun-peers", "node_modules", "hdr-histogram-js")
	if _, err := os.Stat(library); err != nil {
		t.Fatalf("hdr-histogram-js is missing: %v; scripts/install-peers installs it", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v; scripts/install-peers installs it", err)
	}
	cmd := exec.Command(node, filepath.Join("testdata", "read-hlog.js"), library, path)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading %s under node: %v", path, err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("what node printed: %v\n%s", err, b)
	}
	return out
}

// agrees holds what was read against the values themselves, in ascending order. A value is off by at most 0.1 %, a rank by
// one: implementations round it in different ways.
func (h readHist) agrees(t *testing.T, what string, values []int64) {
	t.Helper()
	const precision = 0.001
	near := func(got, low, high float64) bool { return got >= low*(1-precision) && got <= high*(1+precision) }
	if h.N != len(values) {
		t.Errorf("%s: it has %d values, want %d", what, h.N, len(values))
		return
	}
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	first, last, mean := float64(values[0]), float64(values[len(values)-1]), sum/float64(len(values))
	if !near(h.Min, first, first) || !near(h.Max, last, last) || !near(h.Mean, mean, mean) {
		t.Errorf("%s: from %v to %v, mean %v; want %v, %v, %v", what, h.Min, h.Max, h.Mean, first, last, mean)
	}
	for i, q := range quantiles {
		rank := int(math.Ceil(q*float64(len(values)))) - 1
		low, high := values[max(0, rank-1)], values[min(len(values)-1, rank+1)]
		if !near(h.Quantiles[i], float64(low), float64(high)) {
			t.Errorf("%s: the quantile %v is %v, want %d to %d", what, q, h.Quantiles[i], low, high)
		}
	}
}

// An implementation that shares no code with ours reads the log and sees the same intervals, values and percentiles.
func TestHlogIsReadByAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts node")
	}
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	type key struct {
		tag string
		at  float64
	}
	intervals, tags := map[key][]int64{}, map[string][]int64{}
	for second := range 5 {
		for worker := range 2 {
			sec := load.Second{Load: "small/1", Worker: worker, Phase: []string{"warm up, slowly", "measure"}[second/3], Second: second}
			for _, what := range whats {
				h, n := new(hdr.Histogram), 1+rnd.IntN(3000)
				if what == "connect" || what == "tls" {
					n = 1
				}
				if what == "tls" && second > 0 {
					continue // a second without it has no line
				}
				name := tag(&sec, what)
				k := key{name, float64(began.UnixMilli()) + 250 + 1000*float64(second)}
				for range n {
					v := int64(math.Exp(rnd.Float64() * math.Log(float64(100*time.Second)))) // every size of the range is as likely
					h.Record(v)
					intervals[k], tags[name] = append(intervals[k], v), append(tags[name], v)
				}
				*histogram(&sec, what) = h
			}
			w.Seconds(sec)
		}
	}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}

	got := readByNode(t, filepath.Join(w.Dir, "latency.hlog"))
	if len(got.Intervals) != len(intervals) || len(got.Tags) != len(tags) {
		t.Errorf("it reads %d intervals of %d tags, want %d of %d", len(got.Intervals), len(got.Tags), len(intervals), len(tags))
	}
	for _, i := range got.Intervals {
		k := key{i.Tag, math.Round(i.Start)}
		values := slices.Sorted(slices.Values(intervals[k]))
		if values == nil {
			t.Errorf("it reads an interval of %q at %.0f that was not written", k.tag, k.at)
			continue
		}
		if math.Round(i.End-i.Start) != 1000 {
			t.Errorf("%s: it lasts %v ms", k.tag, i.End-i.Start)
		}
		i.agrees(t, fmt.Sprintf("%s at %.0f", k.tag, k.at), values)
	}
	for name, h := range got.Tags {
		h.agrees(t, name+" in all", slices.Sorted(slices.Values(tags[name])))
	}
}
