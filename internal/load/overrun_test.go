package load

import (
	"fmt"
	"testing"
	"time"
)

// TestOverrun: a rate that no generator can even count one by one does not keep the load from ending, and every request has its
// outcome. Two workers share it.
func TestOverrun(t *testing.T) {
	server := play(t, "127.0.0.1:0", nil, 0, every(ok))
	const rate, waiting = 1e9, 1000
	var due int64
	for worker := range 2 {
		s, _ := begin(t, Spec{Address: server.address, Worker: worker, Workers: 2, Connections: 2, Reuse: true, MaxWaiting: waiting, Timeout: 20 * time.Second,
			Rate: []RateStep{{rate, rate, 500 * time.Millisecond}, {0, rate, 500 * time.Millisecond}}})
		time.Sleep(time.Second)
		c := s.stop().Counts
		due += c.Due
		if c.Errors[Dropped]+c.Generator < c.Due*9/10 || c.OK == 0 {
			t.Errorf("worker %d: %s", worker, s.outcomes())
		}
	}
	if due != rate/2+rate/4 {
		t.Errorf("%d requests were due", due)
	}
}

// TestDueBefore: the number of requests that are due before a time is what counting them one by one gives.
func TestDueBefore(t *testing.T) {
	for _, tt := range shapes[:8] {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(tt.name, workers), func(t *testing.T) {
				sched, err := newSchedule(tt.steps)
				if err != nil {
					t.Fatal(err)
				}
				l := newLoop(&job{Spec: Spec{Workers: workers, Rate: tt.steps}, schedule: sched})
				l.ledger.start = 77
				for _, end := range []time.Duration{time.Millisecond, 999 * time.Millisecond, time.Second, 1700 * time.Millisecond, time.Hour} {
					for _, l.k = range []int64{0, 1, 7} {
						l.schedule()
						if l.nextDue >= 77+int64(end) {
							continue
						}
						n := int64(0)
						for k := l.k; ; k += int64(workers) {
							if at, ok := sched.due(k); !ok || at >= end {
								break
							}
							n++
						}
						if got := l.dueBefore(77 + int64(end)); got != n {
							t.Errorf("from %d on before %v: %d, want %d", l.k, end, got, n)
						}
					}
				}
			})
		}
	}
}
