package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// reported is the section of connections of a set with one cell of two runs.
func reported(t *testing.T, l record.Load, metrics map[string]map[string]float64) string {
	t.Helper()
	f := newFixture()
	r := f.in.Results
	r.Targets, r.Scenarios = []record.Target{{Name: "nginx"}}, []record.Scenario{{Name: "s"}}
	c := f.cell(cellSpec{stage: "first", scenario: "s", target: "nginx", rates: []float64{100, 100}})
	for w, m := range metrics {
		c.Metrics[w] = new(record.CellWindow)
		for name, v := range m {
			c.Metrics[w].Set(name, record.Value{Value: v, Runs: []float64{v, v}})
		}
	}
	for _, run := range f.in.Runs {
		run.Loads = []record.Load{l}
	}
	var out bytes.Buffer
	if err := Write(&out, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(out.String(), "## Connections\n")
	if !found {
		t.Fatalf("there is no section of connections:\n%s", out.String())
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// A load without TLS, retries or answerers shows no row of them; what it did is added up over phases and runs.
func TestPlainConnections(t *testing.T) {
	got := reported(t, record.Load{Name: "small", Workers: 1, Ready: load.Ready{Wire: "io_uring"}, Spec: load.Spec{Connections: 4, Reuse: true},
		Totals: map[string]load.Counts{"warm-up": {Opened: 4}, "measure": {Opened: 1}}},
		map[string]map[string]float64{"phase/warm-up/load/small": {"connect_p50_ms": 0.05, "connect_p99_ms": 0.1}})
	for _, want := range []string{
		"| cell      | load  | protocol | opened | connect p50 (ms) | connect p99 (ms) |",
		"| s / nginx | small | h1       |     10 |           0.0500 |            0.100 |",
		"Their bytes moved by io_uring.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	for _, none := range []string{"TLS", "GOAWAY", "Who answered", "sent again", "limit"} {
		if strings.Contains(got, none) {
			t.Errorf("the report speaks of %s:\n%s", none, got)
		}
	}
}

func TestAllOfConnections(t *testing.T) {
	by := map[string]int64{"(none)": 1, "pod-1": 69, "a|b <i>\n": 30}
	got := reported(t, record.Load{Name: "h2", Workers: 1, Ready: load.Ready{Wire: "epoll", WireNote: "io_uring_setup: operation not permitted", StreamLimit: 128},
		Spec: load.Spec{Protocol: "h2", Scheme: "https", Connections: 4, Streams: 8, Reuse: true, By: "x-served-by"},
		Totals: map[string]load.Counts{"measure": {Opened: 6, Handshakes: 6, Resumed: 2, Goaways: 1, Retried: 3, Refused: 2, ReuseRetried: 1, By: by,
			Sessions: map[string]int64{"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519": 4, "TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 resumed": 2}}}},
		map[string]map[string]float64{"load/h2": {"connect_p50_ms": 0.05, "connect_p99_ms": 0.1, "handshake_p50_ms": 1, "handshake_p99_ms": 2.5}})
	for _, want := range []string{
		"| s / nginx | h2   | h2       |     12 |           0.0500 |            0.100 |                       128 |       2 | 6 above a GOAWAY's last stream<br>4 after REFUSED_STREAM<br>2 on a closed connection |",
		"Their bytes moved by epoll, because io_uring_setup: operation not permitted.",
		"| s / nginx | h2   |         12 |  33.3 % |     1.00 |     2.50 | TLS 1.3 TLS_AES_128_GCM_SHA256 X25519: 8<br>TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 resumed: 4 |",
		"| s / nginx | h2   | x-served-by |     200 |    2 | pod-1: 138 (69.0 %)<br>a\\|b \\<i\\>: 60 (30.0 %)<br>(none): 2 (1.00 %) |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %s\n%s", want, got)
		}
	}
}

// Of many who answered, those with the most and the least are named.
func TestManyAnswered(t *testing.T) {
	by := map[string]int64{}
	for i := range 20 {
		by[fmt.Sprintf("pod-%02d", i)] = int64(100 + i)
	}
	got := strings.Join(shares(by, 2190), " ")
	if want := "pod-19: 119 (5.43 %) pod-18: 118 (5.39 %) pod-17: 117 (5.34 %) and 14 between pod-02: 102 (4.66 %) pod-01: 101 (4.61 %) pod-00: 100 (4.57 %)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
