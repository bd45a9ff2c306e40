package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// shipped is the path of a target that planrun ships.
func shipped(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "plans", "lib", "targets", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// happened are the events of a run of one kind.
func happened(t testing.TB, out *engine.Outcome, id, kind string) (list []record.Event) {
	t.Helper()
	d, err := out.Set.Data(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Events {
		if _, asked := e.Fields["change"]; e.Kind == kind && (kind != "change" || asked) { // a signal is a change too
			list = append(list, e)
		}
	}
	return list
}

// A real proxy in front of backends that come and go: everything that happens is in the record, no more fails where the
// target is told first, and the next run begins with what the first one did. (HAProxy is in
// TestFailuresUnderChurnAreExplained.)
func TestScale(t *testing.T) {
	out := run(t, compile(t, `
plan: scale
backends: {web: {replicas: 2, routes: {bench.local: /}}}
host: {guards: {shortest: 1s}}
targets: {nginx: {from: `+shipped(t, "nginx")+`}}
loads: {steady: {host: bench.local, path: /small, rate: 100/s, connections: 4, timeout: 10s, expect: {status: 200, bytes: 13}}}
scenarios:
  none:
    vars: {drain: none}
    phases:
      - churn:
          do:
            - {load: steady, through: after}
            - {exec: [sleep, '0.3']}
            - {scale: {backends: web, to: 4, over: 10ms, within: 60s}}
            - {exec: [sleep, '0.3']}
            - {scale: {backends: web, to: 1, drain: "${{ vars.drain }}", within: 60s}}
      - load: {name: after, for: 500ms}
  first: {use: none, vars: {drain: announce-first}}
probes: [backend-connections]
verdicts: [{verdict: nothing fails, pass: failed == 0}]
`), engine.RunOptions{})
	failed := map[string]float64{}
	for _, r := range runs(t, out) {
		if r.Status != record.Done {
			t.Errorf("%v: %s: %s", r.Coord, r.Status, r.Reason)
			continue
		}
		failed[r.Coord.Scenario] = r.Metrics[""].Value("failed")
		checkScaled(t, out, r)
	}
	if failed["first"] > failed["none"] {
		t.Errorf("failed: %v", failed)
	}
}

// checkScaled looks into a run that scaled 2 -> 3 -> 4 -> 1.
func checkScaled(t *testing.T, out *engine.Outcome, r *record.Run) {
	t.Helper()
	var what []string
	for _, c := range r.Facts.Changes {
		what = append(what, c.What)
		if c.Arrived != (c.Served > 0) || c.Arrived != (c.Why == "") {
			t.Errorf("%v: %+v", r.Coord, c)
		}
	}
	if want := []string{"scale web 2 -> 3", "scale web 3 -> 4", "scale web 4 -> 1"}; !slices.Equal(what, want) {
		t.Errorf("%v: %q, want %q", r.Coord, what, want)
		return
	}
	states := map[string][]string{}
	at := map[string]float64{}
	for _, e := range happened(t, out, r.ID, "replica") {
		name := fmt.Sprint(e.Fields["process"], "/", e.Fields["replica"])
		states[name] = append(states[name], fmt.Sprint(e.Fields["state"]))
		at[name+" "+fmt.Sprint(e.Fields["state"])] = e.T
	}
	for _, name := range []string{"web/2", "web/3"} {
		if want := []string{"ready", "announced", "leaving", "exited"}; !slices.Equal(states[name], want) {
			t.Errorf("%v: %s was %q, want %q", r.Coord, name, states[name], want)
		}
	}
	reloads := happened(t, out, r.ID, "reload")
	if len(reloads) != 3 {
		t.Errorf("%v: reloads: %+v", r.Coord, reloads)
		return
	}
	begun, _ := reloads[2].Fields["start"].(float64)
	if first := r.Coord.Scenario == "first"; first != (at["web/3 leaving"] > begun) {
		t.Errorf("%v: told to end at %.3f s, the target told from %.3f s on", r.Coord, at["web/3 leaving"], begun)
	}
	if changes := happened(t, out, r.ID, "change"); len(changes) != 3 {
		t.Errorf("%v: changes: %+v", r.Coord, changes)
	}
	if slices.ContainsFunc(r.Facts.Changes, func(c record.Change) bool { return !c.Arrived || len(c.Unseen) > 0 }) {
		return // this machine was too busy; guards say so
	}
	if v := r.Metrics[""].Value("route_propagation_ms"); v <= 0 {
		t.Errorf("%v: route_propagation_ms = %g", r.Coord, v)
	}
	// What replicas that left had counted is in the sums.
	for _, name := range []string{"web/0", "web/1", "web/2", "web/3"} {
		if r.Facts.Servers[name]["requests"] <= 0 {
			t.Errorf("%v: %s counted %v", r.Coord, name, r.Facts.Servers[name])
		}
	}
	got, known := record.OriginRequests(r)
	if sent := float64(record.SentRequests(r)); !known || got < sent-r.Metrics[""].Value("failed") {
		t.Errorf("%v: %g requests were sent, the backends counted %g", r.Coord, sent, got)
	}
}

// A replica that does not end by itself is killed after the grace; a change that changes nothing is no proof.
func TestScaleGraceAndNothing(t *testing.T) {
	out := run(t, compile(t, `
plan: grace
backends: {deaf: {replicas: 2, command: [sh, -c, 'trap "" TERM; echo up; while :; do sleep 0.1; done'], ready: {log: up}}, web: {}}
targets: {t: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]}}
scenarios:
  s:
    phases:
      - load: {do: [{scale: {backends: deaf, to: 1, grace: 100ms, within: 100ms}}]}
      - measure: {for: 300ms, do: [{load: {path: /small, rate: 100/s}}, {scale: {backends: web, to: 1}}]}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := only(t, out)
	if out.Exit != 3 || !slices.ContainsFunc(r.Guards, func(g record.Guard) bool {
		return g.Name == "churn" && !g.OK && strings.Contains(g.Message, "scale web 1 -> 1 at")
	}) {
		t.Errorf("exit %d: %s", out.Exit, reasons(out))
	}
	for _, e := range happened(t, out, r.ID, "replica") {
		if e.Fields["state"] == "exited" && strings.Contains(e.Message, "deaf/1") && strings.Contains(e.Message, "killed") {
			return
		}
	}
	t.Errorf("the replica that ignores SIGTERM: %+v", happened(t, out, r.ID, "replica"))
}

// Routes come and go in the target, and are as they were when the next run begins; they are undone once, and not where the
// installation ends anyway.
func TestRoutesComeAndGo(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	passed(t, run(t, compile(t, `
plan: routes
backends: {a: {routes: {a.local: /}, with: {served-by: true}}, b: {with: {served-by: true}}}
targets:
  t:
    install: [{start: {builtin: proxy, listen: [http], routes: true}}]
    routes-changed: [{exec: [sh, -c, 'echo x >>`+count+`']}]
scenarios:
  s:
    repeats: 2
    phases:
      - load:
          do:
            - {http: {url: http/small, headers: {Host: b.local}, expect: 404}}
            - {add-route: {host: b.local, backends: b}}
            - {http: {url: http/small, headers: {Host: b.local}}}
            - {remove-route: {host: b.local}}
            - {http: {url: http/small, headers: {Host: b.local}, expect: 404}}
            - {toggle-route: {host: a.local, path: /small, backends: b}}
            - exec: [sh, -c, 'python3 -c "import urllib.request as u, sys; sys.exit(u.urlopen(u.Request(sys.argv[1], headers=dict(Host=\"a.local\"))).headers[\"x-served-by\"] != \"b-0\")" http://${{ endpoint("http") }}/small']
            - {scale: {backends: b, to: 2}}
      - measure: {for: 300ms, do: [{load: {host: a.local, path: /small, rate: 100/s}}]}
verdicts: [{verdict: ok, pass: failed == 0 && events("reload").size() == 8, gate: true}]
`), engine.RunOptions{}))
	if b, _ := os.ReadFile(count); string(b) != strings.Repeat("x\n", 2*4+1) {
		t.Errorf("the target was told %d times, want 4 in each of 2 runs, and once between them", strings.Count(string(b), "x"))
	}
}

// A target that never serves a change has no figures that anybody may trust, and its run goes on.
func TestChangesThatDoNotArrive(t *testing.T) {
	nobody := httptest.NewServer(http.NotFoundHandler())
	defer nobody.Close()
	out := run(t, compile(t, `
plan: deaf
backends: {web: {routes: {web.local: /}}}
targets: {t: {endpoints: {http: "`+nobody.Listener.Addr().String()+`"}, routes-changed: [{exec: ['true']}]}}
scenarios:
  s:
    phases:
      - load:
          do:
            - {scale: {backends: web, to: 2, within: 20ms}}
            - {add-route: {host: a.local, backends: web, within: 20ms}}
            - {toggle-route: {host: b.local, backends: web, within: 20ms}}
            - {remove-route: {host: a.local, within: 20ms}}
      - measure: {for: 300ms, do: [{load: {url: "http://${{ backends.web.address }}/small", rate: 100/s}}]}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := only(t, out)
	if r.Status != record.Done || out.Exit != 3 {
		t.Errorf("%s, exit %d: %s", r.Status, out.Exit, reasons(out))
	}
	for _, c := range r.Facts.Changes {
		if c.Arrived || !strings.HasPrefix(c.Why, "not within 20ms; when last asked it ") {
			t.Errorf("%+v", c)
		}
	}
	if len(r.Facts.Changes) != 4 {
		t.Errorf("%d changes", len(r.Facts.Changes))
	}
}

// A change that waits behind another one until its phase ends is not made, and takes no place in the record from the other.
func TestChangeBehindAnother(t *testing.T) {
	nobody := httptest.NewServer(http.NotFoundHandler())
	defer nobody.Close()
	r := only(t, run(t, compile(t, `
plan: behind
backends: {web: {routes: {web.local: /}}, db: {}}
targets: {t: {endpoints: {http: "`+nobody.Listener.Addr().String()+`"}, routes-changed: [{exec: ['true']}]}}
scenarios:
  s:
    phases:
      - measure:
          for: 3s
          do:
            - {scale: {backends: db, to: 2}, at: 2s}
            - {scale: {backends: web, to: 2, within: 60s}}
            - {load: {url: "http://${{ backends.web.address }}/small", rate: 100/s}}
`), engine.RunOptions{}))
	changes := r.Facts.Changes
	if len(changes) != 2 {
		t.Fatalf("%s: %s: changes %+v", r.Status, r.Reason, changes)
	}
	slices.SortFunc(changes, func(a, b record.Change) int { return strings.Compare(a.What, b.What) }) // both end with the phase
	if c := changes[0]; c.What != "scale db to 2" || !c.Unmade || !strings.HasPrefix(c.Why, "it was not made, its phase ended before; it had waited ") || len(c.Unseen) > 0 {
		t.Errorf("what was not made: %+v", c)
	}
	if c := changes[1]; c.What != "scale web 1 -> 2" || !slices.Equal(c.Came, []string{"web/1"}) || !slices.Equal(c.Unseen, []string{"web/1"}) {
		t.Errorf("what nobody used: %+v", c)
	}
}

// A replica that was started again is the one that leaves, and both lives of it are counted.
func TestScaleAfterRestart(t *testing.T) {
	out := run(t, compile(t, `
plan: restart
backends: {web: {replicas: 2}}
targets: {t: {install: [{start: {name: sut, builtin: proxy, listen: [http], upstreams: web}}]}}
scenarios:
  s:
    phases:
      - load:
          do:
            - {load: {path: /small, rate: 100/s, timeout: 1s}, through: after}
            - {exec: [sleep, '0.3']}
            - {restart: {process: web, replica: 1}}
            - {exec: [sleep, '0.3']}
            - {scale: {backends: web, to: 1, within: 60s}}
      - measure: {name: after, for: 300ms}
`), engine.RunOptions{})
	r := only(t, out)
	if r.Status != record.Done {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	left := happened(t, out, r.ID, "replica")
	if len(left) != 2 {
		t.Errorf("the replica that leaves: %+v", left)
	}
	for _, e := range left {
		for _, p := range r.Processes {
			if pid, _ := e.Fields["pid"].(float64); p.Name == "web" && p.Replica == 1 && int(pid) == p.PID {
				t.Errorf("the replica as it was before it was started again: %s", e.Message)
			}
		}
	}
	got, known := record.OriginRequests(r)
	if sent := float64(record.SentRequests(r)); !known || got < sent-r.Metrics[""].Value("failed") {
		t.Errorf("%g requests were sent, the backends counted %g", sent, got)
	}
}

// A target that answers every host, with another text each time, shows no change of a route.
func TestChangesOfATargetWithoutHosts(t *testing.T) {
	var n atomic.Int64
	chatty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "request", n.Add(1)) }))
	defer chatty.Close()
	r := only(t, run(t, compile(t, `
plan: chatty
backends: {web: {routes: {web.local: /}}}
targets: {t: {endpoints: {http: "`+chatty.Listener.Addr().String()+`"}, routes-changed: [{exec: ['true']}]}}
scenarios: {s: {phases: [load: {do: [{add-route: {host: a.local, backends: web}}]}]}}
`), engine.RunOptions{}))
	if c := r.Facts.Changes; len(c) != 1 || c[0].Arrived || c[0].Why != "the target answers a host without a route as one with it" {
		t.Errorf("%s: %s: %+v", r.Status, r.Reason, c)
	}
}

// Of two changes the first is not served until the phase ends, so the second is not made: not behind the phase either, while
// a request is still waited for. Each says its own reason.
func TestChangeBehindALateOne(t *testing.T) {
	nobody := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "slow.local" {
			time.Sleep(time.Second) // its drain goes beyond the phase
			return
		}
		http.NotFound(w, r)
	}))
	defer nobody.Close()
	out := run(t, compile(t, `
plan: late
backends: {web: {routes: {web.local: /}}}
targets: {t: {endpoints: {http: "`+nobody.Listener.Addr().String()+`"}, routes-changed: [{exec: ['true']}]}}
scenarios:
  s:
    phases:
      - load:
          for: 1s
          do:
            - {load: {url: "http://`+nobody.Listener.Addr().String()+`/", host: slow.local, rate: 5/s, connections: 10}}
            - {add-route: {host: a.local, backends: web}}
            - {at: 300ms, toggle-route: {host: b.local, backends: web}}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`), engine.RunOptions{})
	r := only(t, out)
	if r.Status != record.Done || len(r.Facts.Changes) != 2 {
		t.Fatalf("%s, changes %+v: %s", r.Status, r.Facts.Changes, reasons(out))
	}
	slices.SortFunc(r.Facts.Changes, func(a, b record.Change) int { return strings.Compare(a.Kind, b.Kind) })
	late, behind := r.Facts.Changes[0], r.Facts.Changes[1]
	if late.Unmade || late.Arrived || !strings.HasPrefix(late.Why, "its phase ended ") || !strings.HasSuffix(late.Why, "after the target was told; when last asked it answered with status 404") {
		t.Errorf("the late one: %+v", late)
	}
	if !behind.Unmade || behind.Arrived || behind.Action != "toggle-route b.local/" || !strings.HasPrefix(behind.Why, "it was not made, its phase ended before; it had waited ") ||
		!strings.Contains(behind.Why, "(add the route a.local/ to web, which began at ") {
		t.Errorf("the one behind it: %+v", behind)
	}
	if n := len(happened(t, out, r.ID, "reload")); n != 1 {
		t.Errorf("the target was told %d times", n)
	}
}

// What cannot be changed, or of which nobody would tell the target, is said before anything runs.
func TestChurnIsChecked(t *testing.T) {
	const target = "targets: {t: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}]}}\n"
	for _, tc := range []struct{ backends, rest, action, want string }{
		{"web: {}", target, "{scale: {backends: wbe, to: 2}}", `did you mean`},
		{"web: {address: ['127.0.0.1:1']}", target, "{scale: {backends: web, to: 2}}", "runs already somewhere"},
		{"web: {}", "targets: {t: {endpoints: {http: '127.0.0.1:1'}}}\n", "{scale: {backends: web, to: 2}}", `target "t" does not say how it learns`},
		{"web: {}", target, "{scale: {backends: web, to: 2, over: 1s}, at: 500ms}", "goes on over 1s, but its phase measure ends after 1s"},
		{"web: {}", target, "{remove-route: {host: a.local}}", "there is no route a.local/ to be removed"},
		{"web: {}", target, "{add-route: {host: 'http://a', backends: web}}", "is no host"},
		{"web: {}", target + "relays: {slow: {of: web}}\nscenarios: {s: {relays: [slow]}}\ninclude: [more.yaml]\n", "{scale: {backends: web, to: 2}}", "the relay slow stands in front"},
		{"web: {}", "targets: {t: {install: [{start: {builtin: proxy, listen: [http], upstreams: web}}, {scale: {backends: web, to: 2}}]}}\n", "{exec: ['true']}", "scale cannot stand in install"},
	} {
		scenario := "scenarios: {s: {phases: [{measure: {for: 1s, do: [{load: {path: /}}, " + tc.action + "]}}]}}\n"
		file := write(t, "plan: p\nbackends: {"+tc.backends+"}\n"+tc.rest)
		if strings.Contains(tc.rest, "include") {
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "more.yaml"), []byte("plan: more\n"+scenario), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(file, []byte("plan: p\nbackends: {"+tc.backends+"}\n"+tc.rest+scenario), 0o644); err != nil {
			t.Fatal(err)
		}
		if prog, list := check(file, engine.Options{}); prog != nil || !strings.Contains(list.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.action, list, tc.want)
		}
	}
}
