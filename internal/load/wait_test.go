package load

import (
	"testing"
	"time"
)

func TestNap(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	for _, tt := range []struct {
		pacing        string
		open, mayspin bool
		left, sleep   int64
		spin          bool
	}{
		{"precise", true, true, 10 * ms, 10*ms - 50*us, false},
		{"precise", true, true, 50 * us, 0, true},
		{"precise", true, true, 0, 0, false},
		{"precise", true, false, 10 * us, 10 * us, false}, // another thread wants the CPU
		{"precise", false, true, 10 * us, 10 * us, false}, // a closed loop only has time limits
		{"economical", true, true, 10 * us, 500 * us, false},
		{"economical", true, true, 10 * ms, 10 * ms, false},
		{"economical", true, true, -1, 0, false},
		{"economical", false, true, 10 * us, 10 * us, false},
		{"busy", true, true, 10 * ms, 0, true},
		{"busy", false, true, 10 * ms, 0, true},
	} {
		if sleep, spin := nap(tt.pacing, tt.open, tt.left, tt.mayspin); sleep != tt.sleep || spin != tt.spin {
			t.Errorf("%+v: sleeps %d, spins %v", tt, sleep, spin)
		}
	}
}
