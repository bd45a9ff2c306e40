package main

import (
	"testing"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// second is a second of a load as a worker reports it, with all latencies the same.
func second(worker, n int, ok, failed int64, latency time.Duration) load.Second {
	s := load.Second{Worker: worker, Second: n, Counts: load.Counts{OK: ok, Errors: map[string]int64{load.Reset: failed}}, Latency: new(hdr.Histogram)}
	for range ok {
		s.Latency.Record(int64(latency))
	}
	return s
}

func TestFigures(t *testing.T) {
	f := newFigures()
	if f.load() != "" || f.cores() != "" {
		t.Errorf("%q and %q of nothing", f.load(), f.cores())
	}
	f.sample("small", load.Sample{Seconds: []load.Second{second(0, 0, 700, 3, time.Millisecond), second(0, 1, 900, 0, 2*time.Millisecond)}})
	f.sample("small", load.Sample{Seconds: []load.Second{second(1, 1, 300, 1, 2*time.Millisecond)}, Health: load.Health{Waiting: 12}})
	if got, want := f.load(), "1,200/s p99 2 ms failed 4 waiting 12"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	f.sample("large", load.Sample{Seconds: []load.Second{second(0, 0, 5, 0, 1500*time.Millisecond)}})
	if got, want := f.load(), "large 5/s p99 1.5 s failed 0; small 1,200/s p99 2 ms failed 4 waiting 12"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	read := func(at, v float64, role, name string) {
		f.point(series.Point{T: at, Series: name, Source: role, Role: role, V: v})
	}
	for _, role := range []string{"control", "load", "sut"} {
		read(1, 5, role, "cpu_user_s")
		read(1, 2, role, "cpu_kernel_s")
	}
	read(3, 6, "sut", "cpu_user_s")
	read(3, 2.5, "sut", "cpu_kernel_s")
	read(3, 5.1, "load", "cpu_user_s")
	read(3, 100, "sut", "rss_mib")
	f.point(series.Point{T: 3, Series: "cpu_user_s", Role: "sut", Source: "sut", Label: "a thread", V: 50})
	if got, want := f.cores(), "CPUs: sut 0.75, load 0.05, control 0.00"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for ms, want := range map[float64]string{0.1234: "0.123 ms", 12.345: "12.3 ms", 123.4: "123 ms", 2500: "2.5 s"} {
		if got := milliseconds(ms); got != want {
			t.Errorf("%v: %s, not %s", ms, got, want)
		}
	}
}
