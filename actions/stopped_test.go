package actions

import (
	"strings"
	"testing"
	"time"
)

// What a pause's looks at processes come to.
func TestStopWatch(t *testing.T) {
	const ms = time.Millisecond
	type look struct {
		at     time.Duration
		alive  int
		halted bool
	}
	for _, tc := range []struct {
		name    string
		looks   []look
		stopped time.Duration
		unfelt  string
	}{
		{"at once", []look{{0, 1, true}, {50 * ms, 1, true}, {100 * ms, 1, true}}, 100 * ms, ""},
		{"after a moment", []look{{0, 2, false}, {50 * ms, 2, true}, {100 * ms, 2, true}}, 50 * ms, ""},
		{"never", []look{{0, 1, false}, {4990 * ms, 1, false}, {5010 * ms, 1, false}}, 0, "a/0 was not stopped within 5s"},
		{"not yet", []look{{0, 1, false}, {500 * ms, 1, false}}, 0, "it ended before everything was seen to be stopped"},
		{"it ran again", []look{{0, 1, true}, {50 * ms, 1, true}, {300 * ms, 1, false}, {350 * ms, 1, true}}, 50 * ms, "a/0 was running again after 0.30 s"},
		{"it ended", []look{{0, 1, true}, {50 * ms, 0, true}}, 0, "a/0 ended while it was to be stopped"},
	} {
		begun := time.Now()
		var now look
		w := &stopWatch{look: func([]int) (int, bool) { return now.alive, now.halted }, trees: []stoppedTree{{"a/0", []int{1}}}, begun: begun}
		for _, now = range tc.looks {
			w.see(begun.Add(now.at))
		}
		if e := w.effect(); e.Stopped != tc.stopped || !strings.HasPrefix(e.Unfelt, tc.unfelt) || (e.Unfelt == "") != (tc.unfelt == "") {
			t.Errorf("%s: %+v", tc.name, e)
		}
	}
}
