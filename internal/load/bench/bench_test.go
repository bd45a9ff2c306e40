package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain makes this test binary the program, if the environment says so: it moves all of its threads to a CPU.
func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv("PLANRUN_TEST_BENCH"); ok {
		os.Exit(bench(strings.Fields(args), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestWholeRow runs the row of HTTP/1.1, with one CPU for all if there is no other, and says nothing about its ratio. On a
// machine that is too busy a peer may have errors.
func TestWholeRow(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts nginx and wrk")
	}
	for _, program := range []string{"nginx", "wrk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: scripts/install-peers installs it", err)
		}
	}
	ids, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	raw := t.TempDir() + "/raw.json"
	var out []byte
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("PLANRUN_TEST_BENCH=-rounds 1 -duration 1s -again 0 -rows ^h1-small/wrk$ -report-only -moonshot -json %s -cpus %d,%d", raw, ids[0], ids[len(ids)-1]))
		if out, err = cmd.CombinedOutput(); err == nil {
			break
		}
		t.Logf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`^bench h1-small wrk ratio \d+\.\d{3} target 0\.85 moonshot 0\.55 (ABOVE)? *\(1 round \d.*\n$`)
	if err != nil || !line.Match(out) {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := os.ReadFile(raw)
	if err != nil || bytes.Count(written, []byte("\n")) != 4 || bytes.Count(written, []byte(`"who":"planrun"`)) != 2 {
		t.Errorf("%v\n%s", err, written)
	}
}

func TestClaims(t *testing.T) {
	const (
		wrk    = "  1 threads and 64 connections\n  21158 requests in 1.01s, 3.25MB read\nRequests/sec:  21022.91\n"
		h2load = "requests: 12804 total, 12868 started, 12804 done, 12804 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 12804 2xx, 0 3xx, 0 4xx, 0 5xx\n"
		fortio = "Code 200 : 9984 (100.0 %)\nAll done 9984 calls (plus 64 warmup) 1.505 ms avg, 9968.8 qps\n"
	)
	for _, c := range []struct {
		kind, out string
		want      int64 // 0 is an error
	}{
		{"wrk", wrk, 21158},
		{"wrk", wrk + "  Non-2xx or 3xx responses: 3\n", 0},
		{"wrk", wrk + "  Socket errors: connect 0, read 1, write 0, timeout 0\n", 0},
		{"wrk", "unable to connect", 0},
		{"h2load", h2load, 12804},
		{"h2load", strings.Replace(h2load, "12804 2xx", "12836 2xx", 1), 12804}, // begun at the end
		{"h2load", strings.Replace(h2load, "0 errored", "1 errored", 1), 0},
		{"h2load", strings.Replace(h2load, "12804 succeeded", "12803 succeeded", 1), 0},
		{"h2load", strings.Replace(h2load, "0 5xx", "2 5xx", 1), 0},
		{"fortio", fortio, 10048},
		{"fortio", strings.Replace(fortio, "Code 200 : 9984 (100.0 %)", "Code 200 : 9983 (100.0 %)\nCode -1 : 1 (0.0 %)", 1), 0},
		{"fortio", "Code 503 : 9984 (100.0 %)\nAll done 9984 calls (plus 64 warmup) 1 ms avg, 1 qps\n", 0},
	} {
		if got, err := claims[c.kind](c.out); got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %d, %v of\n%s", c.kind, got, err, c.out)
		}
	}
}

func TestOneKind(t *testing.T) {
	const (
		plain   = "HTTP/1.1 - - - - 200 13"
		full    = "HTTP/1.1 TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 . 200 13"
		resumed = "HTTP/1.1 TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 r 200 13"
	)
	for _, c := range []struct {
		name   string
		at     string
		resume bool
		all    map[string]int64
		want   string
	}{
		{"one", "tls", false, map[string]int64{full: 100}, full},
		{"cut off at the end", "plain", false, map[string]int64{plain: 100, "HTTP/1.1 - - - - 200 0": 4}, plain},
		{"more than can be in flight", "plain", false, map[string]int64{plain: 100, "HTTP/1.1 - - - - 200 0": 5}, ""},
		{"resumed", "tls", true, map[string]int64{resumed: 100, full: 4}, resumed},
		{"resumed against the row", "tls", false, map[string]int64{resumed: 100, full: 4}, ""},
		{"not resumed", "tls", true, map[string]int64{full: 100}, ""},
		{"another body", "plain", false, map[string]int64{"HTTP/1.1 - - - - 200 102400": 100}, ""},
		{"another status", "plain", false, map[string]int64{"HTTP/1.1 - - - - 404 13": 100}, ""},
		{"nothing", "plain", false, map[string]int64{}, ""},
	} {
		r := row{at: c.at, resume: c.resume, bytes: 13, connections: 4}
		if got, err := oneKind(c.all, r); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestSame(t *testing.T) {
	closed := row{connections: 64}
	for _, c := range []struct {
		name string
		run  run
		row  row
		ok   bool
	}{
		{"all counted", run{Requests: 1000, Claimed: 1000, Connections: 64}, closed, true},
		{"in flight at the end", run{Requests: 1064, Claimed: 1000, Connections: 64}, closed, true},
		{"more than in flight", run{Requests: 1065, Claimed: 1000, Connections: 64}, closed, false},
		{"more than nginx saw", run{Requests: 999, Claimed: 1000, Connections: 64}, closed, false},
		{"nothing", run{Connections: 64}, closed, false},
		{"connections lost", run{Requests: 1000, Claimed: 1000, Connections: 66}, closed, false},
		{"streams in flight", run{Requests: 1064, Claimed: 1000, Connections: 4}, row{connections: 4, streams: 16}, true},
		{"new ones", run{Requests: 1000, Claimed: 1000, Connections: 1064}, row{connections: 64, fresh: true}, true},
		{"reused ones", run{Requests: 1000, Claimed: 1000, Connections: 999}, row{connections: 64, fresh: true}, false},
		{"rate kept", run{Requests: 960, Claimed: 960, Connections: 64}, row{connections: 64, rate: 500}, true},
		{"rate not kept", run{Requests: 940, Claimed: 940, Connections: 64}, row{connections: 64, rate: 500}, false},
	} {
		if err := c.run.same(c.row, 2*time.Second); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestCost: the start of a process is no cost of its requests.
func TestCost(t *testing.T) {
	r := run{Requests: 1100, CPU: 1.2, StartRequests: 100, StartCPU: 0.2}
	if got := r.cost(); got != 0.001 {
		t.Errorf("%v", got)
	}
}

func TestMid(t *testing.T) {
	for _, c := range []struct {
		all  []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		before := slices.Clone(c.all)
		if got := mid(c.all); got != c.want || !slices.Equal(c.all, before) {
			t.Errorf("%v: %v", before, got)
		}
	}
}

func TestLines(t *testing.T) {
	ratio := row{name: "a", peer: "wrk", must: 0.85, moon: 0.5}
	// costing are calm rounds in which the worker needs so much CPU time, and the peer 1 s; their starts are in it.
	costing := func(seconds ...float64) (out []round) {
		for _, s := range seconds {
			out = append(out, round{speeds: []float64{10, 10}, runs: []run{
				{Requests: 200, StartRequests: 100, Wall: 2, CPU: s + 1, StartCPU: 1},
				{Theirs: true, Requests: 200, StartRequests: 100, Wall: 1, CPU: 3, StartCPU: 2},
			}})
		}
		return out
	}
	lagging := func(p50, p90 float64) round {
		return round{speeds: []float64{10, 10}, runs: []run{{LagP50: p50, LagP90: p90}}}
	}
	restless := costing(9, 0.9, 0.9)
	restless[0].speeds, restless[0].discarded, restless[0].disturbed = []float64{10, 12}, true, true
	restless[1].speeds, restless[1].disturbed, restless[1].runs[1].Foreign, restless[1].runs[0].Wire = []float64{11, 10}, true, 0.12, "epoll"
	for _, c := range []struct {
		res   result
		moon  bool
		lines []string // how they begin
		want  verdict
	}{
		{result{row: ratio, rounds: costing(0.9, 0.84, 0.1)}, false,
			[]string{"bench a wrk ratio 0.840 target 0.85  (3 rounds 0.100 to 0.900, with the starts 0.613; 100/s to 200/s; others had up to 0 % of the client's CPU, the host's speed moved up to 1.00 times)"}, met},
		{result{row: ratio, rounds: costing(0.86)}, true, []string{"bench a wrk ratio 0.860 target 0.85 moonshot 0.50 ABOVE  (1 round 0.860 to"}, missed},
		{result{row: row{name: "a", peer: "wrk"}, rounds: costing(9)}, true, []string{"bench a wrk ratio 9.000 target -  ("}, met},
		{result{row: ratio, rounds: restless}, false, []string{"bench a wrk ratio 0.900 target 0.85 ABOVE  (2 rounds 0.900 to 0.900, with the starts 0.633; 100/s to 200/s; " +
			"epoll, others had up to 12 % of the client's CPU, the host's speed moved up to 1.10 times; " +
			"1 round measured again: others had up to 0 % of the client's CPU, the host's speed moved up to 1.20 times; 1 round disturbed all the same)"}, missed},
		{result{row: ratio, absent: errors.New("protocol h2")}, false, []string{"bench a wrk not run: protocol h2"}, absent},
		{result{row: ratio, failed: errors.New("round 1")}, false, []string{"bench a wrk failed: round 1"}, invalid},
		{result{row: row{name: "b", lagMust: []time.Duration{60 * micros, 150 * micros}, lagMoon: []time.Duration{2 * micros, 50 * micros}},
			rounds: []round{lagging(50e3, 151e3), lagging(60e3, 151e3), lagging(70e3, 151e3)}}, true,
			[]string{"bench b - p50 60.0 us target 60 us moonshot 2 us  (3 rounds 50.0 to 70.0;", "bench b - p90 151.0 us target 150 us moonshot 50 us ABOVE  ("}, missed},
	} {
		lines, v := c.res.lines(c.moon)
		if v != c.want || !slices.EqualFunc(lines, c.lines, strings.HasPrefix) {
			t.Errorf("%q, %d; want %q, %d", lines, v, c.lines, c.want)
		}
	}
}

func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if _, ok := servers[r.at]; !ok || seen[r.label()] || r.connections == 0 || r.bytes == 0 {
			t.Errorf("%+v", r)
		}
		if !r.extra && (r.peer != "") != (r.must > 0 && r.moon > 0) || (r.peer == "") != (len(r.lagMust) == 2 && len(r.lagMoon) == 2) {
			t.Errorf("targets of %s", r.label())
		}
		seen[r.label()] = true
	}
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]int{
		"-rounds 0": exitFailed, "-apart -1": exitFailed, "-foreign -0.1": exitFailed, "-again -1": exitFailed, "-duration 1500ms": exitFailed, "-rows nothing": exitFailed, "-rows (": exitFailed, "more": exitFailed, "-what": exitFailed, "-h": exitMet,
	} {
		var stdout, stderr bytes.Buffer
		if got := bench(strings.Fields(args), &stdout, &stderr); got != want || stderr.Len() == 0 {
			t.Errorf("%s: %d, %s", args, got, &stderr)
		}
	}
	_, chosen, err := parse(nil, &bytes.Buffer{})
	if err != nil || len(chosen) != 11 {
		t.Errorf("%d rows by default, %v", len(chosen), err)
	}
}
