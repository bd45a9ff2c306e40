package load

import (
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// TestNginxDies: a real server is killed under load and comes back. Every request has one outcome in the phase in which it
// was due, and those of the last phase are answered again.
func TestNginxDies(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts nginx")
	}
	for _, wire := range wires(t) {
		for name, rate := range map[string][]RateStep{"closed": nil, "open": {{To: 500}}} {
			t.Run(wire+"/"+name, func(t *testing.T) {
				t.Parallel()
				address, _ := freeAddress(t)
				server := nginx(t, address)
				s, ready := begin(t, Spec{Address: address, Connections: 10, Reuse: true, Wire: wire, Rate: rate, Timeout: 5 * time.Second})
				if ready.Verified != 1 || ready.Connections != 10 {
					t.Errorf("ready: %+v", ready)
				}
				due := map[string]int64{}
				phase := func(next string) { // after a while
					t.Helper()
					time.Sleep(200 * time.Millisecond)
					var reply ControlReply
					if err := s.client.Control(t.Context(), Control{Phase: next}, &reply); err != nil {
						t.Fatal(err)
					}
					maps.Copy(due, reply.Due)
				}
				phase("dead")
				server.kill()
				phase("back")
				nginx(t, address)
				phase("again")
				phase("end")
				c := s.stop().Counts
				if c.Errors[Connect] == 0 || c.Generator != 0 || c.OK+c.Errors[Connect]+c.Errors[Reset] != c.Due || len(c.Non2xx) > 0 {
					t.Errorf("outcomes %s", s.outcomes())
				}
				phases := map[string]Counts{}
				for _, sec := range s.seconds {
					of := phases[sec.Phase]
					of.Due, of.OK = of.Due+sec.Counts.Due, of.OK+sec.Counts.OK
					phases[sec.Phase] = of
				}
				for name, n := range due {
					if name != "end" && phases[name].Due != n {
						t.Errorf("phase %s: due %d, the control said %d", name, phases[name].Due, n)
					}
				}
				if of := phases["load"]; of.OK == 0 {
					t.Errorf("before: %+v", of)
				}
				if of := phases["again"]; of.OK != of.Due || of.OK == 0 {
					t.Errorf("after it came back: due %d, ok %d", of.Due, of.OK)
				}
			})
		}
	}
}

// TestDrainEnds: whatever is open at the end, waiting, connecting or in flight, has an outcome when its timeout has passed.
func TestDrainEnds(t *testing.T) {
	for _, p := range passages {
		for name, change := range map[string]func(*Spec){
			"open": func(s *Spec) { s.Rate = []RateStep{{2000, 2000, 10 * time.Millisecond}} },
			"open, dials": func(s *Spec) {
				s.Pool, s.InFlight, s.Rate = "dial", 20, []RateStep{{2000, 2000, 10 * time.Millisecond}}
			},
			"closed":   func(s *Spec) { s.InFlight = 20 },
			"no reuse": func(s *Spec) { s.Reuse, s.Connections = false, 20 },
		} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				spec := Spec{Connections: 3, Reuse: true, Timeout: 300 * time.Millisecond}
				change(&spec)
				var verification sync.Once
				server := playBy(t, p, &spec, func(x *scene) {
					for x.request() {
						verification.Do(func() { x.say(ok) })
					}
				})
				s, _ := begin(t, spec)
				servetest.Eventually(t, "requests", func() bool { return len(server.requests()) >= 4 })
				time.Sleep(10 * time.Millisecond)
				began := time.Now()
				c := s.stop().Counts
				if c.Due < 20 || c.Errors[Timeout] != c.Due {
					t.Errorf("outcomes %s", s.outcomes())
				}
				if took := time.Since(began); took > servetest.Patience {
					t.Errorf("the drain took %v", took)
				}
			})
		}
	}
}
