package load

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSpreadAndBy: the server sees each path equally often, each of them is verified, and answers are counted by who gave
// them.
func TestSpreadAndBy(t *testing.T) {
	for _, p := range passages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			spec := Spec{SpreadPath: "/{1..2}/x/{08..10}?q={0..1}", By: "X-Served-By", Connections: 2, Reuse: true, Timeout: 20 * time.Second, Rate: []RateStep{{2400, 2400, 15 * time.Millisecond}}}
			server := playBy(t, p, &spec, func(x *scene) {
				for x.request() {
					path := strings.Fields(x.server.requests()[x.asked])[1]
					by := ""
					switch path[:3] {
					case "/1/":
						by = "x-served-by:  one \r\n"
					case "/2/":
						if strings.HasSuffix(path, "q=0") {
							by = "X-SERVED-BY:\r\n"
						}
					}
					x.say("HTTP/1.1 200 OK\r\n" + by + "Content-Length: 2\r\n\r\nok")
				}
			})
			s, ready := begin(t, spec)
			if ready.Verified != 12 || ready.Problem != "" {
				t.Errorf("ready: %+v", ready)
			}
			time.Sleep(15 * time.Millisecond)
			c := s.stop().Counts
			if c.OK != 36 || c.Due != 36 || !maps.Equal(c.By, map[string]int64{"one": 18, "": 9, "(none)": 9}) {
				t.Errorf("by %v, outcomes %s", c.By, s.outcomes())
			}
			seen := map[string]int{}
			for _, r := range server.requests() {
				seen[strings.Fields(r)[1]]++
			}
			for _, a := range []string{"1", "2"} {
				for _, b := range []string{"08", "09", "10"} {
					for _, q := range []string{"0", "1"} {
						if path := "/" + a + "/x/" + b + "?q=" + q; seen[path] != 1+3 {
							t.Errorf("%s was asked for %d times", path, seen[path])
						}
					}
				}
			}
		})
	}
}

// TestVerifyOne: the verification says which of the paths is not answered as expected.
func TestVerifyOne(t *testing.T) {
	t.Parallel()
	server := play(t, "127.0.0.1:0", nil, 0, func(x *scene) {
		for x.request() {
			if strings.HasPrefix(x.server.requests()[x.asked], "GET /7 ") {
				x.say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			x.say(ok)
		}
	})
	s, ready := begin(t, Spec{Address: server.address, SpreadPath: "/{0..19}", Connections: 1, Reuse: true, Rate: []RateStep{{2000, 2000, 10 * time.Millisecond}}})
	if ready.Verified != 7 || ready.Problem != "/7: status 404" {
		t.Errorf("ready: %+v", ready)
	}
	time.Sleep(10 * time.Millisecond)
	if c := s.stop().Counts; c.OK != 19 || c.Non2xx[404] != 1 {
		t.Errorf("outcomes %s", s.outcomes())
	}
}

// TestManyValues: beyond 256 values of a header answers are counted together.
func TestManyValues(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := -1 // the verification
	server := play(t, "127.0.0.1:0", nil, 0, func(x *scene) {
		for x.request() {
			mu.Lock()
			by := fmt.Sprintf("By: %d\r\n", n%300)
			if n%301 == 300 {
				by = ""
			}
			n++
			mu.Unlock()
			x.say("HTTP/1.1 200 OK\r\n" + by + "Content-Length: 0\r\n\r\n")
		}
	})
	s, _ := begin(t, Spec{Address: server.address, By: "by", Connections: 1, Reuse: true, Timeout: 20 * time.Second, Rate: []RateStep{{10_000, 10_000, 60 * time.Millisecond}}})
	time.Sleep(60 * time.Millisecond)
	c := s.stop().Counts
	var sum int64
	for _, n := range c.By {
		sum += n
	}
	if c.OK != 600 || sum != 600 || len(c.By) != maxKeys+2 || c.By["(other)"] != 2*(300-maxKeys) && c.By["(other)"] != 2*(300-maxKeys)-1 || c.By["(none)"] != 1 {
		t.Errorf("%d values of %d, others %d, none %d, outcomes %s", len(c.By), sum, c.By["(other)"], c.By["(none)"], s.outcomes())
	}
}

// TestTallyAllocates nothing for a value that is known.
func TestTallyAllocates(t *testing.T) {
	var y tally
	value := []byte("backend-1")
	if n := testing.AllocsPerRun(1000, func() {
		y.count(value, true)
		y.count(nil, false)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got := y.take(); got["backend-1"] != 1001 || got["(none)"] != 1001 || y.take() != nil {
		t.Errorf("%v", got)
	}
}
