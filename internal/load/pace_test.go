package load

import (
	"math"
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name  string
		steps []RateStep
		until time.Duration
		want  float64 // the integral, worked out by hand
		at    map[int64]time.Duration
	}{
		{"constant", []RateStep{{To: 100}}, 10 * s, 1000, map[int64]time.Duration{0: 0, 1: s / 100, 999: 9990 * time.Millisecond}},
		{"constant with an end", []RateStep{{From: 50, To: 50, Over: 2 * s}}, 10 * s, 100, nil},
		{"fraction", []RateStep{{To: 0.4}}, 10 * s, 4, map[int64]time.Duration{1: 2500 * time.Millisecond}},
		{"ramp from 0", []RateStep{{From: 0, To: 100, Over: 10 * s}}, 20 * s, 500, map[int64]time.Duration{0: 0, 125: 5 * s}},
		{"ramp to 0", []RateStep{{From: 100, To: 0, Over: 10 * s}}, 20 * s, 500, map[int64]time.Duration{375: 5 * s}},
		{"up, hold, down", []RateStep{{0, 10, s}, {10, 10, 2 * s}, {10, 0, s}}, 9 * s, 30, map[int64]time.Duration{5: s, 15: 2 * s, 25: 3 * s}},
		{"steps", []RateStep{{1, 1, 10 * s}, {1000, 1000, s}, {To: 2}}, 21 * s, 1030, map[int64]time.Duration{9: 9 * s, 10: 10 * s, 1010: 11 * s, 1011: 11500 * time.Millisecond}},
		{"a pause", []RateStep{{10, 10, s}, {0, 0, 5 * s}, {10, 10, s}}, 10 * s, 20, map[int64]time.Duration{9: 900 * time.Millisecond, 10: 6 * s}},
		{"a pause first", []RateStep{{0, 0, 3 * s}, {To: 1}}, 5 * s, 2, map[int64]time.Duration{0: 3 * s}},
		{"nothing", []RateStep{{To: 0}}, 5 * s, 0, nil},
		{"fast", []RateStep{{To: 123456.7}}, 60 * s, 123456.7 * 60, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sched, err := newSchedule(tt.steps)
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			last := time.Duration(-1)
			for ; ; n++ {
				at, ok := sched.due(n)
				if !ok || at >= tt.until {
					break
				}
				if at < last {
					t.Fatalf("request %d is due at %v, before the previous one at %v", n, at, last)
				}
				last = at
			}
			// Request 0 comes at once, so n requests reach an integral of up to n.
			if float64(n) < tt.want-1e-6 || float64(n) >= tt.want+1+1e-6 {
				t.Errorf("%d requests until %v, want %v", n, tt.until, tt.want)
			}
			for k, want := range tt.at {
				if at, ok := sched.due(k); !ok || (at-want).Abs() > time.Microsecond {
					t.Errorf("request %d is due at %v, %v; want %v", k, at, ok, want)
				}
			}
		})
	}
}

// TestScheduleOfWorkers: the shares of the workers together are the whole, each request once.
func TestScheduleOfWorkers(t *testing.T) {
	sched, err := newSchedule([]RateStep{{From: 10, To: 997, Over: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	const workers = 3
	var total int64
	for i := range int64(workers) {
		for k := i; ; k += workers {
			if _, ok := sched.due(k); !ok {
				break
			}
			total++
		}
	}
	if want := math.Ceil((10 + 997) / 2. * 3); math.Abs(float64(total)-want) > 1 {
		t.Errorf("%d requests, want %v", total, want)
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, steps := range [][]RateStep{
		{{To: -1}}, {{From: -1, To: 1, Over: 1}}, {{To: math.NaN()}}, {{To: math.Inf(1)}},
		{{To: 1, Over: -1}}, {{To: 1}, {To: 2}},
	} {
		if _, err := newSchedule(steps); err == nil {
			t.Errorf("%+v was accepted", steps)
		}
	}
}
