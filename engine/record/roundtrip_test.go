package record

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

var began = time.Date(2026, 11, 30, 7, 0, 0, 123e6, time.UTC)

func newSet(t *testing.T) *Set {
	t.Helper()
	s, err := Create(CreateOptions{Plan: "my plan", Root: t.TempDir(), Start: began})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newRun() *Run {
	return &Run{
		Coord:  Coord{Stage: "st", Scenario: "sc", Target: "nginx", Matrix: []Axis{{"fault", "a/b"}}, Round: 1, Repeat: 2},
		Start:  began,
		Phases: []Phase{{Name: "warm up, slowly", Kind: "warm-up"}, {Name: "measure", Kind: "measure"}},
		Loads:  []Load{{Name: "small/1", Start: 0.25, Workers: 2}},
	}
}

func hist(values ...time.Duration) *hdr.Histogram {
	h := new(hdr.Histogram)
	for _, v := range values {
		h.Record(int64(v))
	}
	return h
}

func TestRoundTrip(t *testing.T) {
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	over := 200 * time.Second // beyond the histogram's range
	phase := "warm up, slowly"
	w.Seconds(
		load.Second{Load: "small/1", Worker: 0, Phase: phase, Second: 3, Latency: hist(1234567, over),
			Counts: load.Counts{Due: 4, OK: 2, Errors: map[string]int64{"reset": 1}, Non2xx: map[int]int64{503: 1}, MaxElapsed: 7, StalledLagNs: 9,
				By: map[string]int64{"pod-1": 2, "(none)": 1}, Sessions: map[string]int64{"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519": 1}}},
		load.Second{Load: "small/1", Worker: 1, Phase: phase, Second: 3, Latency: hist(999), Connect: hist(5e6),
			Counts: load.Counts{Due: 1, OK: 1, MaxElapsed: 5, By: map[string]int64{"pod-1": 1}, Sessions: map[string]int64{"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 resumed": 3}}})
	w.Flush()
	w.Seconds(load.Second{Load: "small/1", Worker: 1, Phase: phase, Second: 3, Latency: hist(3e6), // reported late
		Counts: load.Counts{Due: 2, OK: 1, Errors: map[string]int64{"reset": 1}}})
	w.Points(series.Point{T: 2, Series: "rss_mib", V: math.NaN()}, series.Point{T: 1.5, Series: "rss_mib", Source: "nginx", Role: "sut", V: 12.5})
	w.Event(Event{T: 1, Kind: "exit", Message: "died", Fields: map[string]any{"code": 1.0, "bad": math.Inf(1)}})
	run.Status, run.Seconds = Done, 10
	run.Metrics = WindowsOf(map[string]map[string]float64{"": {"p99_ms": 1, "undefined": math.NaN()}})
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}

	set, err := Open(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Data
	for d, err := range set.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if len(all) != 1 {
		t.Fatalf("%d runs, want 1", len(all))
	}
	d := all[0]
	if len(d.Notes) > 0 {
		t.Errorf("notes: %q", d.Notes)
	}
	if d.Run.Status != Done || d.Run.ID != "0001-st-nginx-sc-a-b-1.2" {
		t.Errorf("status %q id %q", d.Run.Status, d.Run.ID)
	}
	if diff := cmp.Diff(WindowsOf(map[string]map[string]float64{"": {"p99_ms": 1}}), d.Run.Metrics); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]series.Point{{T: 1.5, Series: "rss_mib", Source: "nginx", Role: "sut", V: 12.5}}, d.Points); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Event{{T: 1, Kind: "exit", Message: "died", Fields: map[string]any{"code": 1.0}}}, d.Events); diff != "" {
		t.Error(diff)
	}
	if len(d.Seconds) != 1 {
		t.Fatalf("%d seconds, want 1", len(d.Seconds))
	}
	sec := d.Seconds[0]
	want := load.Counts{Due: 7, OK: 4, Errors: map[string]int64{"reset": 2}, Non2xx: map[int]int64{503: 1}, MaxElapsed: 7, StalledLagNs: 9,
		By: map[string]int64{"pod-1": 3, "(none)": 1}, Sessions: map[string]int64{"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519": 1, "TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 resumed": 3}}
	if diff := cmp.Diff(want, sec.Counts); diff != "" {
		t.Error(diff)
	}
	if sec.Load != "small/1" || sec.Phase != phase || sec.Second != 3 || sec.Worker != AllWorkers {
		t.Errorf("second %+v", sec)
	}
	l := sec.Latency
	if l.Count() != 4 || l.Min() != 999 || l.Max() != int64(over) || l.Overflow() != 1 {
		t.Errorf("latency n=%d min=%d max=%d over=%d", l.Count(), l.Min(), l.Max(), l.Overflow())
	}
	if sec.Connect.Count() != 1 || sec.Connect.Max() != 5e6 || sec.Service != nil {
		t.Errorf("connect %v, service %v", sec.Connect, sec.Service)
	}
}

// A log is read by any HdrHistogram tool: times in seconds since its base time, the tag without spaces.
func TestHlogIsStandard(t *testing.T) {
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Seconds(load.Second{Load: "small/1", Phase: "warm up, slowly", Second: 3, Latency: hist(2 * time.Millisecond), Counts: load.Counts{Due: 1, OK: 1}})
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(w.Dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{
		"#[Histogram log format version 1.3]\n",
		"#[BaseTime: 1796022000.123 (seconds since epoch)]\n",
		"#[StartTime: 1796022000.123 (seconds since epoch), 2026-11-30T07:00:00Z]\n",
		"\nTag=small%2F1/warm%20up%2C%20slowly/latency,3.250000,1.000000,2.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	h, err := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b)).NextIntervalHistogram()
	if err != nil || h == nil || h.Tag() != "small%2F1/warm%20up%2C%20slowly/latency" || h.TotalCount() != 1 || h.ValueAtPercentile(50)/1e4 != 200 {
		t.Errorf("the library reads %+v, %v", h, err)
	}
}

// What comes after the end of a run is none of it.
func TestAfterFinish(t *testing.T) {
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{Report: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
	}
	w.Points(series.Point{Series: "n"})
	w.Seconds(load.Second{Load: "small/1"})
	w.Event(Event{Kind: "note"})
	w.Flush()
	d, err := s.Data(w.ID)
	if err != nil || len(d.Points)+len(d.Seconds)+len(d.Events) > 0 || w.Lost() > 0 {
		t.Errorf("%+v, %v, lost %d", d, err, w.Lost())
	}
}

func TestConcurrentUse(t *testing.T) {
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{Every: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for i := range each {
				w.Points(series.Point{T: float64(i), Series: fmt.Sprint("s", g), V: 1})
				w.Seconds(load.Second{Load: "l", Worker: g, Phase: "measure", Second: i % 4, Latency: hist(1e6), Counts: load.Counts{Due: 1, OK: 1}})
				w.Event(Event{T: float64(i), Kind: "note"})
			}
		})
	}
	wg.Wait()
	run.Status = Done
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	d, err := s.Data(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	var ok, n int64
	for _, sec := range d.Seconds {
		ok += sec.Counts.OK
		n += sec.Latency.Count()
	}
	if len(d.Points) != writers*each || len(d.Events) != writers*each || ok != writers*each || n != ok || len(d.Notes) > 0 {
		t.Errorf("points %d, events %d, ok %d, latencies %d, notes %q", len(d.Points), len(d.Events), ok, n, d.Notes)
	}
}
