package engine_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
)

// What a load can do beyond HTTP/1.1 on a few connections arrives in the record, in expressions and in the report.
func TestLoadsOfEveryKind(t *testing.T) {
	out := run(t, compile(t, `
plan: loads
backends: {web: {replicas: 2, with: {served-by: true}}}
targets:
  t:
    install:
      - start: {name: sut, builtin: proxy, listen: [http, https, h2c], upstreams: web}
      - start: {name: forward, builtin: relay, listen: [forward], upstreams: web}
loads: {base: {path: /small, rate: 40/s, timeout: 5s, headline: false}}
scenarios:
  s:
    phases:
      - measure:
          for: 1500ms
          do:
            - {name: h1, load: {use: base, headline: true, connections: 4, by: header(x-served-by), sources: [127.0.1.0/24, "::1"]}}
            - {name: h2, load: {use: base, endpoint: https, protocol: h2, connections: 2, streams: 4, tls: {groups: [P-256]}, expect: {status: 200}}}
            - {name: h2c, load: {use: base, endpoint: h2c, protocol: h2c, pool: dial, in-flight: 8, by: header(x-served-by)}}
            - {name: distinct, load: {use: base, pool: distinct, connections: 6, connect-rate: 100/s, workers: 2}}
            - {name: again, load: {use: base, endpoint: https, reuse: none, tls: {resume: true}}}
            - {name: spread, load: {use: base, spread: {path: "/bytes/{10..12}"}}}
            - {name: slow, load: {use: base, rate: 5/s, read-rate: 1MiB/s}}
            - {name: forward, load: {use: base, proxy: target, endpoint: forward, path: /, url: "http://${{ backends.web.addresses[1] }}/small", by: header(x-served-by)}}
verdicts:
  - verdict: no load failed
    gate: true
    pass: failed + load("h2").failed + load("h2c").failed + load("distinct").failed + load("again").failed + load("slow").failed + load("spread").failed + load("forward").failed == 0
  - verdict: both answered
    gate: true
    pass: by("web-0") > 0 && by("web-1") > 0 && by("web-0") + by("web-1") == requests && by("nobody") == 0 && answerers == 2 && load("h2c").answerers == 2
  - verdict: TLS was spoken
    gate: true
    pass: handshakes == 0 && load("h2").handshakes == 2 && load("h2").resumed == 0 && load("again").handshakes > 10 && load("again").resumed_ratio > 0.5 && load("again").handshake_p50_ms > 0
  - verdict: connections are as asked
    gate: true
    pass: connections_opened == 4 && load("distinct").connections_opened == 6 && load("h2").connections_opened == 2
`), engine.RunOptions{})
	passed(t, out)
	loads := map[string]int{}
	for i, l := range only(t, out).Loads {
		loads[l.Name] = i
		if l.Ready.Wire == "" {
			t.Errorf("load %s does not say what moved its bytes", l.Name)
		}
	}
	spread := only(t, out).Loads[loads["spread"]]
	if spread.Spec.SpreadPath != "/bytes/{10..12}" || spread.Totals["measure"].Due == 0 {
		t.Errorf("the load that spreads: %+v", spread)
	}
	for name, group := range map[string]string{"h2": "P-256", "again": "resumed"} {
		found := false
		for s, n := range only(t, out).Loads[loads[name]].Totals["measure"].Sessions {
			found = found || n > 0 && strings.HasPrefix(s, "TLS 1.3 TLS_") && strings.Contains(s, group)
		}
		if !found {
			t.Errorf("load %s: no session of TLS 1.3 with %s: %v", name, group, only(t, out).Loads[loads[name]].Totals)
		}
	}
	text := reportOf(t, out)
	for _, w := range []string{"## Connections", "### TLS", "### Who answered", "web-0: ", "Their bytes moved by ", "4 connections, open loop", "from 127.0.1.0/24, counted by x-served-by", "asked of the target as a forward proxy"} {
		if !strings.Contains(text, w) {
			t.Errorf("the report does not say %q", w)
		}
	}
}
