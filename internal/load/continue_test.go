package load

import (
	"strings"
	"testing"
	"time"
)

// TestContinue: a body that expects 100 Continue is sent after it and not before, and not at all after another answer.
func TestContinue(t *testing.T) {
	const body = "a body"
	for _, tt := range []struct {
		name   string
		script func(*scene)
		non2xx map[int]int64
		ok     int64
		opened int64
		body   string // that the server sees
	}{
		{name: "100", script: func(x *scene) {
			for x.head() {
				x.say("HTTP/1.1 100 Continue\r\n\r\n")
				if !x.body() {
					return
				}
				x.say(ok)
			}
		}, ok: 3, opened: 1, body: body},
		{name: "103, 100", script: func(x *scene) {
			for x.head() {
				x.say("HTTP/1.1 103 Early Hints\r\n\r\n")
				x.say("HTTP/1.1 100 Continue\r\nA: b\r\n\r\n")
				if !x.body() {
					return
				}
				x.say(ok)
			}
		}, ok: 3, opened: 1, body: body},
		{name: "100 and the answer at once", script: func(x *scene) {
			for x.head() {
				x.say("HTTP/1.1 100 Continue\r\n\r\n" + ok)
				x.rest()
			}
		}, ok: 3, opened: 4},
		{name: "417", script: func(x *scene) {
			if x.head() {
				x.say("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
				x.rest() // ends when the load closes the connection
			}
		}, non2xx: map[int]int64{417: 3}, opened: 4},
		{name: "200", script: func(x *scene) {
			if x.head() {
				x.say(ok)
				x.rest()
			}
		}, ok: 3, opened: 4},
	} {
		for _, p := range passages {
			if p.piece > 0 && tt.name == "100 and the answer at once" {
				continue // the body comes between the two
			}
			t.Run(tt.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				spec := Spec{Method: "PUT", Headers: []Header{{"Expect", "100-continue"}}, Body: []byte(body), Connections: 1, Reuse: true,
					Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}
				server := playBy(t, p, &spec, tt.script)
				s, _ := begin(t, spec)
				time.Sleep(10 * time.Millisecond)
				if c := s.stop().Counts; c.Due != 3 || c.OK != tt.ok || !equal(c.Non2xx, tt.non2xx) || c.Opened != tt.opened {
					t.Errorf("opened %d, outcomes %s", c.Opened, s.outcomes())
				}
				for _, r := range server.requests() {
					if head, sent, _ := strings.Cut(r, "\r\n\r\n"); sent != tt.body || !strings.Contains(head, "\r\nContent-Length: 6") {
						t.Errorf("the server saw %q", r)
					}
				}
			})
		}
	}
}

// TestNoContinue: a body that expects 100 Continue is sent after a second without it.
func TestNoContinue(t *testing.T) {
	t.Parallel()
	spec := Spec{Method: "POST", Headers: []Header{{"expect", "100-Continue"}}, Body: []byte("a body"), Connections: 1, Reuse: true, Rate: []RateStep{{100, 100, 10 * time.Millisecond}}}
	server := playBy(t, passages[0], &spec, every(ok))
	s, ready := begin(t, spec)
	time.Sleep(10 * time.Millisecond)
	total := s.stop()
	if c := total.Counts; c.Due != 1 || c.OK != 1 || ready.Verified != 1 || server.accepted.Load() != 1 {
		t.Errorf("%+v, outcomes %s", ready, s.outcomes())
	}
	if took := time.Duration(total.Service.Max()); took < continueAfter {
		t.Errorf("the body was sent before %v", took)
	}
	for _, r := range server.requests() {
		if !strings.HasSuffix(r, "\r\n\r\na body") {
			t.Errorf("the server saw %q", r)
		}
	}
}

// TestGoOn: of interim answers only 100 asks for the body.
func TestGoOn(t *testing.T) {
	for in, want := range map[string]bool{
		"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n": false,
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n":   true,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n":   true,
		"HTTP/1.1 100 Contin": false,
	} {
		var p parser
		p.reset(&request{form: &form{}})
		if done, err := p.feed([]byte(in)); done || err != nil || p.goOn != want {
			t.Errorf("%q: done %v, error %v, goes on %v", in, done, err, p.goOn)
		}
	}
}

// TestEarlyAnswer: a connection whose request was answered before it was written is not used again.
func TestEarlyAnswer(t *testing.T) {
	for _, p := range []passage{{name: "epoll", wire: "epoll"}, {name: "TLS on " + kernelRing, secure: true, wire: kernelRing}} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			spec := Spec{Method: "PUT", Body: make([]byte, 6<<20), Connections: 1, Reuse: true, Rate: []RateStep{{200, 200, 10 * time.Millisecond}}}
			end := make(chan struct{})
			playBy(t, p, &spec, func(x *scene) {
				if x.head() {
					x.say(ok)
					<-end // reads no more
				}
			})
			t.Cleanup(func() { close(end) })
			s, _ := begin(t, spec)
			time.Sleep(10 * time.Millisecond)
			if c := s.stop().Counts; c.OK != 2 || c.Due != 2 || c.Opened != 3 {
				t.Errorf("opened %d, outcomes %s", c.Opened, s.outcomes())
			}
		})
	}
}
