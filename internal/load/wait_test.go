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
		{"economical", true, true, 10 * us, 10 * us, false},
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

// TestSharedCPU: precise pacing spins only as long as nobody else wants its CPU, and tries again after a while.
func TestSharedCPU(t *testing.T) {
	var now int64
	second := int64(time.Second)
	p := pacer{pacing: "precise", open: true, clock: func() int64 { return now }}
	spins := func() bool { // for a request that is due in 10 us
		return p.left(now+10_000) == 0
	}
	p.saw(1000) // whatever it was before
	for i, tt := range []struct {
		switches int64 // in this second
		spins    bool  // in the next one
	}{
		{0, true}, {preempted, true}, {preempted + 1, false}, {0, false}, {10 * preempted, false}, {0, false}, {0, false}, {0, true}, {10 * preempted, false},
	} {
		spins()
		now += second
		p.saw(p.switches + tt.switches)
		if got := spins(); got != tt.spins {
			t.Errorf("after second %d with %d switches: spins %v", i, tt.switches, got)
		}
	}
	p = pacer{pacing: "economical", open: true, clock: func() int64 { return now }}
	if spins() {
		t.Error("economical pacing spins")
	}
}
