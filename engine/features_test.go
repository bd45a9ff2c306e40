package engine_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// oneLoad is a scenario with one small load.
const oneLoad = "scenarios: {s: {phases: [{measure: {for: 400ms, do: [{load: {path: /small, rate: 100/s, timeout: 1s}}]}}]}}\n"

// passed makes sure that everything went well.
func passed(t *testing.T, out *engine.Outcome) {
	t.Helper()
	if out.Exit != 0 || reasons(out) != "" {
		t.Errorf("exit %d: %s\n%s", out.Exit, out.Why, reasons(out))
	}
}

// A secret is nowhere in the result set, in no encoding, wherever the plan or what it runs puts it.
func TestSecrets(t *testing.T) {
	secret := `s3"cr&t/päss`
	file := write(t, `
plan: secrets
params: {password: {env: PASSWORD, secret: true}}
backends: {web: {}}
targets:
  t:
    install:
      - start: {builtin: relay, listen: [http], upstreams: web}
      - start: {name: shell, command: [sh, -c, 'echo "$PASSWORD and $0"; printf %s "$PASSWORD" | base64; exec sleep 600', "${{ params.password }}"], env: {PASSWORD: "${{ params.password }}"}}
      - write: {file: conf, content: "password = ${{ params.password }}"}
scenarios:
  s:
    phases:
      - measure:
          for: 3s
          do:
            - load: {path: /small, headers: {authorization: "Bearer ${{ params.password }}"}}
            - exec: {command: [grep, -q, "password = s3", conf]}
            - exec: {command: [sh, -c, 'echo "$0" >&2; exit 1', "${{ params.password }}"]}
verdicts: [{verdict: v, pass: failed == 0}]
`)
	prog, list := check(file, engine.Options{Env: func(string) (string, bool) { return secret, true }})
	if list.HasErrors() {
		t.Fatal(list)
	}
	out := run(t, prog, engine.RunOptions{})
	if r := only(t, out); r.Status != record.Failed || !strings.Contains(r.Reason, "[redacted]") {
		t.Errorf("the action that prints it to fail: %s (%s)", r.Status, r.Reason)
	}
	err := filepath.WalkDir(out.Set.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, form := range []string{secret, `s3\"cr`, "czMiY3ImdC9w", "s3%22cr", "cr&t/p"} {
			if strings.Contains(string(b), form) {
				t.Errorf("%s holds %q", strings.TrimPrefix(path, out.Set.Dir), form)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if prog, list := check(write(t, "plan: p\nparams: {n: {env: PLANRUN_NOT_SET}}\ntargets: {t: {endpoints: {http: '127.0.0.1:1'}}}\n"+oneLoad), engine.Options{}); prog != nil || !strings.Contains(list.Error(), "PLANRUN_NOT_SET is not set") {
		t.Errorf("a variable that is not set: %v", list)
	}
}

// What the environment gives and no plan can hold is said, where it will be missed; a secret is not stored anyway.
func TestAnEnvironmentThatNoPlanCanHold(t *testing.T) {
	for _, tc := range []struct {
		param, value string
		warned       bool
	}{{"{env: N}", "\xff", true}, {"{env: N}", "é", false}, {"{env: N, secret: true}", "\xff\xfe\xfd\xfc", false}} {
		plan := "plan: p\nparams: {n: " + tc.param + "}\ntargets: {t: {endpoints: {http: '127.0.0.1:1'}}}\n" + oneLoad
		_, list := check(write(t, plan), engine.Options{Env: func(string) (string, bool) { return tc.value, true }})
		i := slices.IndexFunc(list, func(p *diag.Problem) bool { return strings.Contains(p.Msg, "UTF-8") })
		if i >= 0 != tc.warned || list.HasErrors() || i >= 0 && (!list[i].Warning || list[i].Pos.Line != 2) {
			t.Errorf("%s with %q: %v", tc.param, tc.value, list)
		}
	}
}

func TestPresets(t *testing.T) {
	file := write(t, "plan: p\nparams: {n: 1}\npresets: {many: {n: 3}}\ntargets: {t: {endpoints: {http: '127.0.0.1:1'}}}\nscenarios: {s: {repeats: '${{ params.n }}', phases: [{measure: {for: 1s}}]}}\n")
	for _, tc := range []struct {
		presets, set []string
		want         int
	}{{nil, nil, 1}, {[]string{"many"}, nil, 3}, {[]string{"many"}, []string{"n=5"}, 5}} {
		plan, list := dsl.Load(file, dsl.Options{Vocabulary: vocabulary, Presets: tc.presets, Set: tc.set})
		prog, more := engine.Compile(plan, engine.Options{})
		if more.HasErrors() || list.HasErrors() {
			t.Fatal(list, more)
		}
		if n := prog.Takes().Runs; n != tc.want {
			t.Errorf("%v %v: %d runs, want %d", tc.presets, tc.set, n, tc.want)
		}
	}
}

// Backends are commands that are told their ports, builtins with settings, and what runs already.
func TestBackends(t *testing.T) {
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "running") }))
	defer running.Close()
	out := run(t, compile(t, `
plan: backends
params: {at: "`+running.Listener.Addr().String()+`"}
backends:
  builtin: {builtin: origin, with: {served-by: true, idle-timeout: 100ms}, limits: {files: 64}}
  command:
    replicas: 2
    command: [sh, -c, 'echo ready $X ${{ replica }} >&2; exec python3 -m http.server --bind 127.0.0.1 ${{ port("http") }}']
    env: {X: "${{ target }}"}
    ready: {http: /, timeout: 20s}
  logged: {command: [sh, -c, 'sleep 0.1; echo now it is up; exec sleep 600'], ready: {log: is up}}
  tcp: {listen: [other], command: [sh, -c, 'test -n "$PORT_other" && exec python3 -m http.server --bind 127.0.0.1 $PORT_other'], ready: {tcp: other, timeout: 20s}}
  running: {address: ["${{ params.at }}"]}
relays: {slow: {of: "running"}}
targets:
  t: {install: [{start: {builtin: relay, listen: [http], upstreams: running}}]}
scenarios:
  s:
    relays: [slow]
    phases:
      - measure:
          for: 400ms
          do:
            - {load: {path: /x, rate: 50/s, expect: {bytes: 7}}}
            - {toxic: {relay: slow, latency: 30ms}}
            - {load: {url: "http://${{ backends.command.addresses[1] }}/", rate: 10/s, headline: false}, name: command}
            - {load: {url: "http://${{ backends.tcp.address }}/", rate: 10/s, headline: false}, name: tcp}
      - load:
          name: who
          do:
            - exec: [sh, -c, 'python3 -c "import urllib.request as u, sys; sys.exit(u.urlopen(sys.argv[1]).headers[\"x-served-by\"] != \"builtin-0\")" http://${{ backends.builtin.address }}/small']
verdicts:
  - {verdict: answered, pass: failed == 0 && requests > 10 && load("command").failed == 0 && load("tcp").requests > 1, gate: true}
`), engine.RunOptions{})
	passed(t, out)
	r := only(t, out)
	if f := r.Facts.Faults; len(f) != 1 || f[0].Bytes == 0 {
		t.Errorf("the relay in front of what runs already: %+v", f)
	}
	logs, _ := filepath.Glob(out.Set.Path("installs", "*", "logs", "command*"))
	if len(logs) != 2 {
		t.Fatalf("logs: %v", logs)
	}
	for i, l := range logs {
		if b, _ := os.ReadFile(l); !strings.Contains(string(b), fmt.Sprintf("ready t %d", i)) {
			t.Errorf("%s: %s", l, b)
		}
	}
	for _, bad := range []string{"{builtin: proxy}", "{with: {served-bye: true}}", "{with: {served-by: 3}}", "{with: {idle-timeout: yes}}"} {
		if prog, list := check(write(t, "plan: p\nbackends: {web: "+bad+"}\ntargets: {t: {endpoints: {http: '127.0.0.1:1'}}}\n"+oneLoad), engine.Options{}); prog != nil || list[0].Pos.Line != 2 {
			t.Errorf("%s: %v", bad, list)
		}
	}
}

// Routes lead to their backends, in templates and in the builtin proxy.
func TestRoutes(t *testing.T) {
	passed(t, run(t, compile(t, `
plan: routes
backends: {a: {with: {served-by: true}, routes: {a.local: /}}, b: {with: {served-by: true}, routes: {b.local: [/small]}}}
targets:
  t:
    install:
      - start: {builtin: proxy, listen: [http], routes: true}
      - write: {file: routes, content: "{{range .Routes}}{{.Host}}:{{range .Paths}}{{.Path}}={{.Backend}} {{end}}{{end}}"}
scenarios:
  s:
    phases:
      - measure:
          for: 3s
          do:
            - {load: {path: /small, host: a.local, rate: 50/s}}
            - {http: {url: http/small, headers: {Host: b.local}}}
            - {http: {url: http/small, headers: {Host: nobody.local}, expect: 404}}
            - exec: [grep, -q, "a.local:/=a b.local:/small=b", routes]
verdicts: [{verdict: routed, pass: failed == 0, gate: true}]
`), engine.RunOptions{}))
}

// A target without install is what its endpoints say; load goes there, to another endpoint, or to a URL.
func TestRunningTarget(t *testing.T) {
	server := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	out := run(t, compile(t, fmt.Sprintf(`
plan: running
targets: {t: {endpoints: {http: "%s", other: "%s"}}}
scenarios:
  s:
    phases:
      - measure:
          for: 400ms
          do:
            - {load: {rate: 50/s, expect: {bytes: 3}}}
            - {load: {endpoint: other, rate: 50/s, expect: {bytes: 5}, headline: false}, name: other}
            - {load: {url: "http://%s/x", rate: 50/s, expect: {bytes: 4}, headline: false}, name: url}
verdicts: [{verdict: all, pass: failed + load("other").failed + load("url").failed == 0 && requests > 10, gate: true}]
`, server("one"), server("other"), server("urls"))), engine.RunOptions{})
	passed(t, out)
}

// Load to a public address is refused, unless the plan and the command line both allow it.
func TestPublicAddresses(t *testing.T) {
	const plan = "plan: public\nHOST\ntargets: {t: {endpoints: {http: '192.0.2.1:9'}}}\n" + oneLoad
	_, list := check(write(t, strings.ReplaceAll(plan, "HOST", "")), engine.Options{})
	if !strings.Contains(list.Error(), "3:33: 192.0.2.1 is a public address") {
		t.Errorf("check: %v", list)
	}
	for _, tc := range []struct{ host, allow, says string }{
		{"host: {allow: [192.0.2.0/24]}", "", "--allow"}, {"host: {allow: [192.0.2.0/24]}", "192.0.2.1", ""},
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(plan, "HOST", tc.host), "rate: 100/s, timeout: 1s", "rate: 1/s, timeout: 50ms")
		r := only(t, run(t, compile(t, text), engine.RunOptions{Allow: strings.Fields(tc.allow)}))
		refused := strings.Contains(r.Reason, "is a public address")
		if refused != (tc.says != "") || !strings.Contains(r.Reason, tc.says) {
			t.Errorf("%q, --allow %q: %s (%s)", tc.host, tc.allow, r.Status, r.Reason)
		}
	}
}

// A port that the plan fixes is the endpoint's, and each replica knows its own.
func TestFixedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	out := run(t, compile(t, fmt.Sprintf(`
plan: ports
backends: {web: {}}
targets:
  t:
    install:
      - start: {name: fleet, replicas: 2, command: [sh, -c, 'echo ${{ port("a") }} > port; echo up; exec sleep 600'], listen: [a], ready: {log: up}, dir: "fleet-${{ replica }}"}
      - start: {builtin: relay, listen: [http], ports: {http: %d}, upstreams: web}
      - exec: [sh, -c, '! cmp -s fleet-0/port fleet-1/port']
      - write: {file: port, content: "{{.Port.http}}"}
      - exec: [grep, -qx, "%d", port]
`, port, port)+oneLoad+"verdicts: [{verdict: v, pass: failed == 0 && requests > 10, gate: true}]\n"), engine.RunOptions{})
	passed(t, out)
	for _, p := range only(t, out).Processes {
		if p.Name == "sut" && p.Ports["http"] != port {
			t.Errorf("ports: %v", p.Ports)
		}
	}
}

// The certificate is of the kind that the plan names, targets and backends have it, and a load asks for its server name.
func TestTLS(t *testing.T) {
	out := run(t, compile(t, `
plan: tls
host: {tls: {certificate: self-signed-rsa-4096}}
backends: {web: {listen: [https]}}
targets:
  t: {install: [{start: {builtin: relay, listen: [https], upstreams: web}}, {exec: [test, -s, "${{ tls.key }}"]}]}
scenarios: {s: {phases: [{measure: {for: 600ms, do: [{load: {endpoint: https, path: /small, rate: 50/s, timeout: 2s, tls: {server-name: bench.local}}}]}}]}}
verdicts: [{verdict: v, pass: failed == 0 && requests > 10, gate: true}]
`), engine.RunOptions{})
	passed(t, out)
	if name := ran(t, out).Loads[0].Spec.ServerName; name != "bench.local" {
		t.Errorf("the load asks for %q", name)
	}
	files, _ := filepath.Glob(out.Set.Path("installs", "*", "tls.crt"))
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(b)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := cert.PublicKey.(*rsa.PublicKey); !ok || key.N.BitLen() != 4096 {
		t.Errorf("the certificate's key is %v", cert.PublicKeyAlgorithm)
	}
}

// Niceness and limits of files reach the processes: the host's, the target's, the scenario's, a start's own.
func TestNiceAndLimits(t *testing.T) {
	passed(t, run(t, compile(t, `
plan: nice
host: {nice: 3}
backends: {web: {}}
targets:
  t:
    limits: {helper: {files: 64}}
    install:
      - start: {name: a, as: helper, command: [sh, -c, 'echo $(nice) $(ulimit -n) > a; exec sleep 600']}
      - start: {name: b, as: helper, nice: 5, limits: {files: 48}, command: [sh, -c, 'echo $(nice) $(ulimit -n) > b; exec sleep 600']}
      - start: {builtin: relay, listen: [http], upstreams: web}
scenarios:
  s: {phases: [{load: {do: [{exec: [sh, -c, 'while [ ! -s a ] || [ ! -s b ]; do sleep 0.05; done; test "$(cat a) $(cat b)" = "3 64 5 48"']}]}}, {measure: {for: 300ms, do: [{load: {path: /small}}]}}]}
  more: {use: s, limits: {helper: {files: 96}}, phases: [{load: {do: [{exec: [sh, -c, 'while [ ! -s a ] || [ ! -s b ]; do sleep 0.05; done; test "$(cat a) $(cat b)" = "3 96 5 48"']}]}}, {measure: {for: 300ms, do: [{load: {path: /small}}]}}]}
verdicts: [{verdict: v, pass: failed == 0, gate: true}]
`), engine.RunOptions{}))
}

// Each threshold of the plan decides its guard.
func TestThresholds(t *testing.T) {
	guards := func(host string) map[string]record.Guard {
		out := map[string]record.Guard{}
		text := "plan: guards\nbackends: {web: {}}\n" + host + "\ntargets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}\n" + strings.ReplaceAll(oneLoad, "400ms", "2s")
		for _, g := range only(t, run(t, compile(t, text), engine.RunOptions{})).Guards {
			out[g.Name] = g
		}
		return out
	}
	lax := guards("host: {guards: {rate-delivered: 1%, generator-cpu: 100%, foreign-cpu: 100%, send-lag: 10s, own-delay: 100%, clock-step: 10s, descriptors: 100%, ports: 100%, shortest: 1s}}")
	strict := guards("host: {guards: {rate-delivered: 100%, generator-cpu: 0%, foreign-cpu: 0%, send-lag: 0s, own-delay: 0%, clock-step: 0s, descriptors: 0%, ports: 0%, shortest: 1h}}")
	for name, g := range lax {
		if !g.OK {
			t.Errorf("lax: %s: %s", name, g.Message)
		}
	}
	for _, name := range []string{"foreign-cpu", "send-lag", "descriptors", "ports", "length"} {
		if g, ok := strict[name]; !ok || g.OK {
			t.Errorf("strict: %s: %v %+v", name, ok, g)
		}
	}
	for _, name := range []string{"rate-delivered", "own-delay", "clock", "generator-cpu"} { // these may well hold
		if lax[name].Message == strict[name].Message {
			t.Errorf("%s: %s", name, strict[name].Message)
		}
	}
}

// Probes sample as often as they are told, of what they are told.
func TestProbes(t *testing.T) {
	points := func(probes string) (n int) {
		out := run(t, compile(t, "plan: probes\nbackends: {web: {}}\nprobes: ["+probes+"]\ntargets: {t: {install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}\n"+strings.ReplaceAll(oneLoad, "400ms", "2s")), engine.RunOptions{})
		d, err := out.Set.Data(only(t, out).ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Points {
			if p.Series == "rss_mib" {
				n++
			}
		}
		return n
	}
	all, often, one := points("process"), points("{process: {}, every: 100ms}"), points("{process: {of: sut}}")
	if often < 2*all || one == 0 || one >= all {
		t.Errorf("%d points; %d with every: 100ms; %d of sut alone", all, often, one)
	}
}

// What the plan says about things stands in its report.
func TestReportWords(t *testing.T) {
	out := run(t, compile(t, `
plan: words
about: ABOUT-PLAN
backends: {web: {}}
targets: {t: {about: ABOUT-TARGET, cannot-equal: [CANNOT-EQUAL], with: {k: {value: KNOB, why: WHY}}, version: [echo, VERSION], install: [{start: {builtin: relay, listen: [http], upstreams: web}}]}}
scenarios: {s: {about: ABOUT-SCENARIO, phases: [{measure: {for: 400ms, do: [{load: {path: /small}}]}}]}}
verdicts: [{verdict: VERDICT, about: ABOUT-VERDICT, pass: failed == 0}]
`), engine.RunOptions{})
	text := reportOf(t, out)
	for _, w := range []string{"ABOUT-PLAN", "ABOUT-TARGET", "CANNOT-EQUAL", "KNOB", "WHY", "VERSION", "ABOUT-SCENARIO", "VERDICT", "ABOUT-VERDICT"} {
		if !strings.Contains(text, w) {
			t.Errorf("the report does not say %s", w)
		}
	}
}
