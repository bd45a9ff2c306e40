package hostspeed

import (
	"runtime"
	"testing"
	"time"
)

// One pass that met an interrupt does not decide; a clock that saw nothing gives no speed.
func TestSpeedOf(t *testing.T) {
	us := time.Microsecond
	for _, c := range []struct {
		took []time.Duration
		want float64 // 0: none
	}{
		{[]time.Duration{100 * us, 100 * us, 100 * us, 100 * us, 100 * us}, 10},
		{[]time.Duration{5000 * us, 200 * us, 190 * us, 210 * us, 200 * us}, 5},
		{[]time.Duration{125 * us}, 8},
		{[]time.Duration{0, 0, 0, 4000 * us, 0}, 0},
		{nil, 0},
	} {
		if got, ok := speedOf(c.took); got != c.want || ok != (c.want > 0) {
			t.Errorf("%v: %v, %v; want %v", c.took, got, ok, c.want)
		}
	}
}

// A piece is neither as short as 10 ns nor as long as a second.
func TestHere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if speed, err := Here(); err != nil || speed <= 0.001 || speed >= 100000 {
		t.Errorf("%v, %v", speed, err)
	}
}
