package probes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
)

func TestBackendConnections(t *testing.T) {
	web := burner(t, "web", "backends", "idle")
	web.sample = origin.Sample{Listeners: map[string]origin.Traffic{
		"http": {Opened: 5, Live: 2, Received: 90, Answered: 88, AcceptErrors: 1}, "https": {Opened: 1, Live: 1, Received: 10, Answered: 10}}}
	b, p := newBench(web), &backendConnections{Of: "web", pace: pace{Every: time.Second}}
	pts := b.must(t, p)
	for name, want := range map[string]float64{"connections_opened": 6, "connections": 3, "requests_received": 100, "requests_answered": 98, "accept_errors": 1} {
		if got := value(t, pts, name, "web", ""); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if pts[len(pts)-1].Role != "backends" {
		t.Errorf("without its role: %+v", pts[len(pts)-1])
	}

	web.sample = nil
	pts, err := b.sample(t, p)
	if err == nil || !strings.Contains(err.Error(), "asking web") || has(pts, "connections", "web") {
		t.Errorf("what cannot be asked: %v, %v", pts, err)
	}
	if _, err := b.sample(t, p); err != nil {
		t.Errorf("said again: %v", err)
	}
	web.sample = map[string]int{"controls": 1}
	if pts, err := b.sample(t, p); err == nil || has(pts, "connections", "web") {
		t.Errorf("what counts nothing: %v, %v", pts, err)
	}
}

// Replicas come and go between samples: what they counted is counted, from their beginning to their end, also of one that no
// sample saw alive.
func TestBackendsThatComeAndGo(t *testing.T) {
	counted := func(p *fake, n int64) {
		p.sample = origin.Sample{Listeners: map[string]origin.Traffic{"http": {Opened: n}}}
	}
	first, second, brief := burner(t, "web", "backends", "idle"), burner(t, "web", "backends", "idle"), burner(t, "web", "backends", "idle")
	again := burner(t, "web", "backends", "idle")
	second.replica, brief.replica, again.replica = 1, 2, 1
	b, p := newBench(first), &backendConnections{Of: "web", pace: pace{Every: time.Second}}
	grown := func(replica int) float64 {
		t.Helper()
		var v []float64
		for _, pt := range b.points {
			if pt.Series == "connections_opened" && pt.Replica == replica {
				v = append(v, pt.V)
			}
		}
		if len(v) < 2 {
			t.Fatalf("replica %d has the points %v", replica, v)
		}
		return v[len(v)-1] - v[0]
	}
	leave := func(p *fake) {
		p.cmd.Process.Kill()
		<-p.exited
		b.ended = append(b.ended, p)
		b.all = slices.DeleteFunc(b.all, func(x task.Process) bool { return x == p })
	}
	counted(first, 100)
	b.must(t, p)
	b.all = append(b.all, second)
	counted(second, 7)
	b.must(t, p)
	counted(second, 9)
	leave(second)
	counted(brief, 5)
	leave(brief)
	b.all = append(b.all, again)
	counted(again, 3)
	counted(first, 110)
	b.must(t, p)
	b.must(t, p)
	for replica, want := range []float64{10, 12, 5} {
		if got := grown(replica); got != want {
			t.Errorf("replica %d grew by %v, want %v", replica, got, want)
		}
	}
}

// What a replica counted before the run is not counted when it answers late only.
func TestBackendThatAnswersLate(t *testing.T) {
	web := burner(t, "web", "backends", "idle")
	b, p := newBench(web), &backendConnections{Of: "web", pace: pace{Every: time.Second}}
	if _, err := b.sample(t, p); err == nil {
		t.Fatal("it answered")
	}
	web.sample = origin.Sample{Listeners: map[string]origin.Traffic{"http": {Opened: 500}}}
	b.must(t, p)
	for _, pt := range b.points {
		if pt.Series == "connections_opened" && pt.V != 500 {
			t.Errorf("%+v", pt)
		}
	}
}

// Backends that run already are no processes of the plan. That is said once, whoever else comes and goes.
func TestBackendsWithoutProcesses(t *testing.T) {
	sut, load := burner(t, "sut", "sut", "idle"), burner(t, "load", "load", "idle")
	b, p := newBench(sut), &backendConnections{Of: "backends", pace: pace{Every: time.Second}}
	if _, err := b.sample(t, p); err == nil || !strings.Contains(err.Error(), "no process is named backends, nor has such a role; there are sut (sut)") {
		t.Errorf("without backends: %v", err)
	}
	b.all = append(b.all, load)
	if _, err := b.sample(t, p); err != nil {
		t.Errorf("said again: %v", err)
	}
}

func TestRelay(t *testing.T) {
	r := burner(t, "relays", "relays", "idle")
	r.sample = faults.Sample{Relays: map[string]faults.Counters{
		"to_web/0": {Opened: 4, Live: 1, DialErrors: 2, BytesUp: 100, BytesDown: 2000, Chunks: 9, Resets: 3, Closed: 2, Refused: 7,
			Acted: map[string]int64{"latency": 3, "reset-after": 4}}, "to_web/1": {Opened: 3}, "to_db/0": {Opened: 9}}}
	b, p := newBench(r), &relay{Of: "to_web", pace: pace{Every: time.Second}}
	pts := b.must(t, p)
	if has(pts, "connections", "to_db") {
		t.Error("another relay was sampled too")
	}
	seen := map[int]float64{}
	for _, pt := range pts {
		if pt.Series == "connections_total" {
			seen[pt.Replica] = pt.V
		}
	}
	if seen[0] != 4 || seen[1] != 3 || len(seen) != 2 {
		t.Errorf("connections by replica: %v", seen)
	}
	for _, pt := range pts {
		want, ok := map[string]float64{"connections": 1, "dial_errors": 2, "bytes_up": 100, "bytes_down": 2000, "chunks": 9, "resets": 3, "closed": 2,
			"refused": 7, "toxic_connections": 7, "toxic_connections latency": 3, "toxic_connections reset-after": 4}[strings.TrimSpace(pt.Series+" "+pt.Label)]
		if ok && pt.Replica == 0 && pt.V != want {
			t.Errorf("%+v, want %v", pt, want)
		}
	}
	if _, err := b.sample(t, &relay{Of: "to_wob"}); err == nil || !strings.Contains(err.Error(), "there are to_db, to_web") {
		t.Errorf("a relay that is not there: %v", err)
	}
	if _, err := newBench().sample(t, &relay{}); err == nil || !strings.Contains(err.Error(), "no relay stands") {
		t.Errorf("without relays: %v", err)
	}
}
