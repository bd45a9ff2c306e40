package actions

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

func TestKindsAreSortedAndRunnable(t *testing.T) {
	if !slices.IsSortedFunc(Kinds, func(a, b dsl.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("Kinds are not sorted by name")
	}
	for _, k := range Kinds {
		if k.Doc == "" || !strings.Contains(k.Doc, ".") {
			t.Errorf("%s: its documentation is no sentence: %q", k.Name, k.Doc)
		}
		_, ok := k.New().(task.Action)
		if ok == (k.Later != "") {
			t.Errorf("%s: it can run: %v, and later says %q", k.Name, ok, k.Later)
		}
		if k.New() == k.New() {
			t.Errorf("%s: New gives the same spec twice", k.Name)
		}
	}
}

func TestUndosAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range Undos {
		if seen[u.Kind] || u.Run == nil || u.Says == nil {
			t.Errorf("undo %q", u.Kind)
		}
		seen[u.Kind] = true
	}
}

// The schema and the reference are made of the tags, and find those that are wrong.
func TestTags(t *testing.T) {
	vocab := dsl.Vocabulary{Actions: Kinds}
	schema, reference := string(dsl.Schema(vocab)), string(dsl.Reference(vocab))
	for _, k := range Kinds {
		for what, text := range map[string]string{"schema": schema, "reference": reference} {
			if !strings.Contains(text, k.Doc[:15]) {
				t.Errorf("%s is not in the %s", k.Name, what)
			}
		}
		checkTags(t, k.Name, reflect.TypeOf(k.New()).Elem())
	}
}

// checkTags makes sure that limits and defaults are written as a plan would write them: the decoder reads them so.
func checkTags(t *testing.T, path string, typ reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			if f.Anonymous {
				checkTags(t, path, f.Type)
			}
			continue
		}
		ft := f.Type
		for ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if f.Tag.Get("doc") == "" {
			t.Errorf("%s.%s has no documentation", path, key)
		}
		for _, tag := range []string{"min", "max", "default"} {
			v, ok := f.Tag.Lookup(tag)
			switch {
			case !ok || ft.Kind() == reflect.Slice:
			case strings.HasSuffix(ft.String(), "Duration") && !isDuration(v),
				strings.HasSuffix(ft.String(), "ByteRate") && !strings.HasSuffix(v, "/s"),
				strings.HasSuffix(ft.String(), "Percent") && !strings.HasSuffix(v, "%"):
				t.Errorf("%s.%s: %s %q is no %v", path, key, tag, v, ft)
			}
		}
		if ft.Kind() == reflect.Struct && strings.HasPrefix(ft.PkgPath(), "github.com/planrun/planrun/actions") {
			checkTags(t, path+"."+key, ft)
		}
	}
}

func isDuration(s string) bool { _, err := time.ParseDuration(s); return err == nil && s != "0" }

// load loads a plan that does the actions in the phases of a scenario, and in an install.
func loadPlan(t *testing.T, install, do string) (*dsl.Plan, []string) {
	t.Helper()
	indent := func(s, by string) string { return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by) + "\n" }
	if install == "" {
		install = "- start: {command: [x], listen: [http]}"
	}
	if do == "" {
		do = "- snapshot: host"
	}
	plan := "plan: p\nbackends: {web: {}}\nrelays: {slow_web: {of: web}}\nloads: {small: {endpoint: http}}\ntargets:\n  a:\n    install:\n" + indent(install, "      ") +
		"scenarios:\n  s:\n    relays: [slow_web]\n    phases:\n      - measure:\n          for: 10s\n          do:\n" + indent(do, "            ") + "probes: [host]\n"
	p, list := dsl.Load("p.yaml", dsl.Options{
		Vocabulary: dsl.Vocabulary{Actions: Kinds, Probes: []dsl.Kind{{Name: "host", Doc: "The host.", New: func() any { return &struct{}{} }}}},
		ReadFile: func(path string) ([]byte, error) {
			if path == "p.yaml" {
				return []byte(plan), nil
			}
			return nil, os.ErrNotExist
		},
	})
	var problems []string
	for _, x := range list {
		problems = append(problems, x.Error())
	}
	return p, problems
}

// What each kind checks beyond the types of its fields. Good plans have no problem; others have exactly one, which says so.
func TestChecks(t *testing.T) {
	for _, tc := range []struct{ install, do, want string }{
		{"- start: {builtin: proxy, listen: [http, https], upstreams: web}", "", ""},
		{"- start: {builtin: proxy, listen: [http], routes: true, with: {timeout: 1s, idle: 4, dial-timeout: 1s}}", "", ""},
		{"- start: {builtin: relay, listen: [any_name], upstreams: [web], with: {dial-timeout: 1s}}", "", ""},
		{"- start: {name: web2, as: backends, builtin: origin, listen: [http, h2c], replicas: 3, with: {served-by: true, idle-timeout: 1m}}", "", ""},
		{"- start: {command: [x, -y], listen: [http, admin], ports: {admin: 9000}, ready: {http: admin/healthz, timeout: 5s}, env: {A: b}, cpus: 0-1, nice: -5, limits: {memory: 64MiB, files: 100}, grace: 1s, stop-signal: QUIT}", "", ""},
		{"- start: {}", "", "nothing says what is started"},
		{"- start: {command: [x], listen: [http], ports: {http: 70000}}", "", "70000 is no port"},
		{"- start: {command: [x], nice: -50}", "", "nice: -50 is below -20"},
		{"- start: {command: [x], nice: 0}", "", ""},
		{"- start: {command: []}", "", "an empty command"},
		{"- start: {command: [x], builtin: proxy}", "", "exclude each other"},
		{"- start: {command: [x], upstreams: web}", "", "this is for builtins"},
		{"- start: {command: [x], listen: [http], ports: {htp: 80}}", "", `"htp" is not in listen`},
		{"- start: {command: [x], listen: [http], ports: {http: 80}, replicas: 2}", "", "2 replicas cannot all listen on port 80"},
		{"- start: {command: [x], listen: [http, http]}", "", `the name "http" stands twice`},
		{"- start: {command: [x], listen: [http], ready: {tcp: https}}", "", `it does not listen on "https"`},
		{"- start: {command: [x], ready: {http: /healthz}}", "", "it listens on no port"},
		{"- start: {builtin: proxy, upstreams: web}", "", "a builtin needs a port"},
		{"- start: {builtin: proxy, listen: [http]}", "", "nothing says where the proxy forwards to"},
		{"- start: {builtin: proxy, listen: [ftp], upstreams: web}", "", `does not know what to speak on "ftp"`},
		{"- start: {builtin: origin, listen: [http], upstreams: web}", "", "an origin answers by itself"},
		{"- start: {builtin: relay, listen: [http], routes: true}", "", "the relay knows no routes"},
		{"- start: {builtin: relay, listen: [http], upstreams: web, with: {timeout: 1s}}", "", "the relay has no timeout"},
		{"- start: {builtin: proxy, listen: [http], upstreams: web, routes: true}", "", "upstreams says already"},
		{"- write: {file: a/b.conf, content: 'x {{ .Port.http }}', executable: true}", "", ""},
		{"- write: {file: a.conf}", "", "nothing says what is written"},
		{"- write: {file: a/, content: x}", "", `"a/" is no name of a file`},
		{"- write: {file: a, content: 'x {{ .Port'}", "", "content:1: unclosed action"},
		{"- write: {file: a, content: x, template: y}", "", "exclude each other"},
		{"- exec: [true]", "", ""},
		{"- exec: {command: [x], set: {version: '.version', n: 'a[0].b'}, timeout: 5s, expect-exit: 3}", "", ""},
		{"- exec: {command: [x], set: {n: 'a[x]'}}", "", "[x] is no place in a list"},
		{"- exec: {command: ['']}", "", "an empty command"},
		{"- http: http/reload", "", ""},
		{"- http: {url: 'http://127.0.0.1:80/x', method: POST, body: x, headers: {A: b}, expect: 204}", "", ""},
		{"- http: {url: '127.0.0.1:80/x'}", "", "is no URL"},
		{"", "- load: {url: 'http://127.0.0.1:80/x', path: /y}", "path: the url says /x already; remove one of them"},
		{"", "- load: {url: 'http://127.0.0.1:80', path: /y}", ""},
		{"- start: {command: [x], listen: [http, h2c, https, tunnel_https]}", "- load: {protocol: h2, endpoint: tunnel_https, streams: 8, connections: 2, tls: {server-name: a, resume: true, groups: [P-256, X25519MLKEM768]}}", ""},
		{"- start: {command: [x], listen: [http, h2c]}", "- load: {protocol: h2c, endpoint: h2c, pool: dial, in-flight: 500, rate: 100/s}", ""},
		{"- start: {command: [x], listen: [http, h2c]}", "- load: {protocol: h2c, endpoint: h2c, pool: dial, rate: 100/s}", ""},
		{"- start: {command: [x], listen: [http, h2c]}", "- load: {protocol: h2c, endpoint: h2c, pool: distinct, connections: 100, connect-rate: 20/s}", ""},
		{"", "- load: {protocol: h2}", "protocol: h2 is HTTP/2 over TLS, and the endpoint http is without TLS"},
		{"", "- load: {protocol: h2, url: 'http://127.0.0.1:1'}", "protocol: h2 is HTTP/2 over TLS, and the url is without TLS"},
		{"", "- load: {protocol: h2c, url: 'https://127.0.0.1:1'}", "protocol: h2c is HTTP/2 without TLS, and the url is with TLS"},
		{"", "- load: {tls: {resume: true}}", "tls: the endpoint http is without TLS"},
		{"", "- load: {url: 'https://127.0.0.1:1', tls: {groups: [X25159]}}", "groups: no key exchange group is called \"X25159\"; did you mean \"X25519\"?"},
		{"", "- load: {url: 'https://127.0.0.1:1', tls: {groups: [P-256, P-256]}}", "P-256 stands twice"},
		{"", "- load: {streams: 2}", "streams: a connection of HTTP/1.1 has one request in flight"},
		{"", "- load: {protocol: h2c, streams: 2, reuse: none}", "streams: with reuse: none a connection has one request"},
		{"", "- load: {pool: distinct, reuse: none}", "pool: distinct is about connections that are kept"},
		{"", "- load: {connect-rate: 5/s, reuse: none}", "connect-rate: with reuse: none connections are opened for their requests"},
		{"", "- load: {rate: 1000000001/s}", "constant: 1000000001/s is above 1000000000; write from 0 to 1000000000"},
		{"", "- load: {rate: {from: 1/s, to: 2000000000/s, over: 1s}}", "to: 2000000000/s is above 1000000000"},
		{"", "- load: {rate: {steps: [{rate: 2000000000/s, for: 1s}]}}", "rate: 2000000000/s is above 1000000000"},
		{"", "- load: {connect-rate: 0}", "connect-rate: a rate of 0 opens no connection"},
		{"", "- load: {read-rate: 0B/s}", "read-rate: below 1B/s nothing is read"},
		{"", "- load: {workers: 2}", "workers: 2 workers cannot share 1 connection"},
		{"", "- load: {workers: 2, connections: 2, protocol: h2c, pool: dial, in-flight: 1}", "in-flight: 2 workers cannot share 1 request in flight"},
		{"", "- load: {pool: dial, connections: 3}", "pool: with one request on a connection no more are in flight than there are connections"},
		{"", "- load: {pool: dial, in-flight: 8}", ""},
		{"", "- load: {in-flight: 8, connections: 4}", "in-flight: 4 connections with 1 stream each have no more than 4 requests in flight"},
		{"", "- load: {in-flight: 3, connections: 4}", ""},
		{"", "- load: {by: header(x-served-by), spread: {path: '/item/{0..255}'}}", ""},
		{"", "- load: {by: x-served-by}", "by: \"x-served-by\" does not say by what answers are counted"},
		{"", "- load: {spread: {path: '/item/{0..}'}}", "path: {0..} is no range of whole numbers"},
		{"", "- load: {spread: {path: '/{0..255}/{0..256}'}}", "stands for more than 65536 paths"},
		{"", "- load: {sources: [127.0.0.0/8, '::1', 127.3.4.5]}", ""},
		{"", "- load: {sources: 127.0.0.300}", "sources: \"127.0.0.300\" is neither an address nor a network"},
		{"", "- load: {sources: [203.0.113.7]}", "sources: 203.0.113.7 is no address of this machine"},
		{"", "- load: {sources: [203.0.113.0/24]}", "sources: this machine has no address in 203.0.113.0/24"},
		{"", "- load: {connections: 30000}", "30000 connections are more than the about 28000 ports of 1 source address"},
		{"", "- load: {connections: 60000, sources: [127.0.0.1, 127.0.0.2]}", "60000 connections are more than the about 56000 ports of 2 source addresses"},
		{"", "- load: {connections: 60000, sources: 127.0.1.0/24}", ""},
		{"", "- load: {proxy: target, url: 'http://127.0.0.1:80/x'}", ""},
		{"- start: {command: [x], listen: [http, forward]}", "- load: {proxy: target, endpoint: forward, url: 'https://127.0.0.1:80/x', protocol: h2}", ""},
		{"", "- load: {proxy: target}", "proxy: nothing says what the proxy is asked for"},
		{"", "- load: {proxy: target, url: 'http://127.0.0.1:80/x', address: '127.0.0.1:1'}", "address: with a proxy the target's endpoint is what is dialled"},
		{"- start: {command: [x], listen: [https]}", "- load: {proxy: target, endpoint: https, url: 'http://127.0.0.1:80/x'}", "endpoint: a forward proxy is spoken to without TLS"},
		{"", "- load: {proxy: target, protocol: h2c, url: 'http://127.0.0.1:80/x'}", "protocol: a forward proxy is asked in HTTP/1.1"},
		{"", "- load: {method: CONNECT}", "method: a load cannot send CONNECT by itself"},
		{"", "- load: {headers: {keep-alive: 5}}", "keep-alive is the load's own header"},
		{"", "- load: {method: POST, body: x, headers: {expect: 100-continue}}", ""},
		{"", "- load: {headers: {expect: 100-continue}}", "a load waits for 100-continue before it sends a body"},
		{"", "- load: {method: POST, body: x, headers: {expect: 200-ok}}", "a load waits for 100-continue before it sends a body"},
		{"", "- load: {protocol: h2c, streams: 128, pool: dial}", ""},
		{"- http: {url: http/x, headers: {'A b': c}}", "", `"A b" is no header`},
		{"", "- wait: {tcp: http, record: up_ms}", ""},
		{"", "- wait: {until: 'failed == 0', within: 5s}", ""},
		{"", "- wait: {log: {process: sut, line: '^up', since: start}}", ""},
		{"", "- wait: {http: http/healthz, status: 503}", ""},
		{"", "- wait: {within: 5s}", "nothing says what to wait for"},
		{"", "- wait: {tcp: http, record: up}", "does not say in which unit"},
		{"", "- wait: {tcp: http, status: 200}", "only an HTTP answer has a status"},
		{"", "- wait: {log: {process: sut, line: '('}}", "missing closing )"},
		{"", "- stop: sut", ""},
		{"", "- restart: {process: sut, replica: 1}", ""},
		{"", "- pause: {process: sut, for: 1s}", ""},
		{"", "- signal: {process: sut, send: HUP}", ""},
		{"", "- signal: {process: sut, send: HUB}", "HUB"},
		{"", "- repeat: {times: 3, pause: 10ms, do: [{signal: {process: sut, send: HUP}}]}", ""},
		{"", "- repeat: {times: 3, for: 1s, do: [{stop: sut}]}", "exclude each other"},
		{"", "- repeat: {do: [{pause: sut}]}", "goes on until the phase ends"},
		{"", "- repeat: {do: [{at: 1s, stop: sut}]}", "at has no meaning in a repeat"},
		{"", "- toxic: {relay: slow_web, latency: 20ms, jitter: 5ms, direction: both}", ""},
		{"", "- toxic: {relay: slow_web, latency: 0ms}", ""},
		{"", "- toxic: {relay: slow_web}", "nothing says what is bad"},
		{"", "- toxic: {relay: slow_web, latency: 1ms, jitter: 5ms}", "5ms is more than the latency of 1ms (uniform): delays below zero would be cut off"},
		{"", "- toxic: {relay: slow_web, preset: latency, jitter: 5ms}", "only a latency has jitter"},
		{"", "- toxic: {relay: slow_web, latency: 10ms, jitter: 5ms, distribution: normal}", "5ms is more than a third of the latency of 10ms (normal): delays below zero would be cut off"},
		{"", "- toxic: {relay: slow_web, latency: 10ms, jitter: 11ms, distribution: pareto}", "11ms is more than the latency of 10ms (pareto): a larger deviation would come from delays too rare"},
		{"", "- toxic: {relay: slow_web, latency: 10ms, jitter: 10ms, distribution: pareto, share: 10%, seed: 2}", ""},
		{"", "- toxic: {relay: slow_web, latency: 10ms, distribution: pareto}", "only jitter has a distribution"},
		{"", "- toxic: {relay: slow_web, latency: 10ms, jitter: 1ms, distribution: gauss}", "gauss"},
		{"", "- toxic: {relay: slow_web, latency: 11m}", "11m"},
		{"", "- toxic: {relay: slow_web, latency: 10ms, bandwidth: 1KiB/s}", "exclude each other"},
		{"", "- toxic: {relay: slow_web, bandwidth: 1KiB/s, shared: true, direction: both}", ""},
		{"", "- toxic: {relay: slow_web, bandwidth: 0.5B/s}", "bandwidth"},
		{"", "- toxic: {relay: slow_web, latency: 1ms, shared: true}", "only a bandwidth can be shared"},
		{"", "- toxic: {relay: slow_web, slice: 10B, slice-delay: 1ms}", ""},
		{"", "- toxic: {relay: slow_web, slice: 0B}", "slice"},
		{"", "- toxic: {relay: slow_web, stall: true, slice-delay: 1ms}", "only slices have a delay"},
		{"", "- toxic: {relay: slow_web, stall: false}", "false asks for nothing"},
		{"", "- toxic: {relay: slow_web, blackhole: true, direction: up}", "is of whole connections"},
		{"", "- toxic: {relay: slow_web, preset: blackhole, direction: up}", "is of whole connections"},
		{"", "- toxic: {relay: slow_web, timeout: 1s, direction: up}", "is of whole connections"},
		{"", "- toxic: {relay: slow_web, reset-after: 0B, direction: up}", "is of whole connections"},
		{"", "- toxic: {relay: slow_web, reset-after: 1B, direction: up}", ""},
		{"", "- toxic: {relay: slow_web, refuse: true, share: 10%}", "nobody listens for any connection"},
		{"", "- toxic: {relay: slow_web, limit-data: 1KiB, share: 0%}", "share"},
		{"", "- toxic: {relay: slow_web, limit-data: 1KiB, seed: 4}", "nothing is drawn"},
		{"", "- snapshot: {url: http/status}", ""},
		{"", "- snapshot: {timeout: 1s}", "nothing says what is read"},
		{"", "- sweep: {load: small, rate: {from: 100/s, times: 1.5}, sustained: failed == 0, step: 1s, settle: 2s}", "nothing is left of a step"},
		{"", "- sweep: {load: small, rate: {from: 100/s}, sustained: failed == 0}", "nothing says how the rate rises"},
		{"", "- ramp: {load: small, connections: [10, 5]}", "5 does not come after 10"},
		{"", "- attack: {}", "nothing says which attack"},
		{"", "- drop: {share: 5%}", "nothing says which packets"},
		{"", "- drop: {port: 80, endpoint: http}", "exclude each other"},
		{"", "- drop: {port: 70000}", "65535"},
		{"", "- limit: {process: sut, cpu: 0.5, memory: 64MiB, processes: 10}", ""},
		{"", "- limit: sut", "nothing says what is limited"},
		{"", "- limit: {process: sut, memory: 1KiB}", "1MiB"},
		{"", "- scale: {to: 3}", "nothing says what is scaled"},
		{"", "- add-route: {host: a, path: x, backends: web}", "a path begins with /"},
		{"", "- delete: {selector: a=b}", "selector and kind belong together"},
		{"", "- apply: {wait: false}", "nothing says what is applied"},
	} {
		t.Run(tc.install+tc.do, func(t *testing.T) {
			_, problems := loadPlan(t, tc.install, tc.do)
			switch {
			case tc.want == "" && len(problems) > 0:
				t.Errorf("problems: %q", problems)
			case tc.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], tc.want)):
				t.Errorf("problems %q\nwant one with %q", problems, tc.want)
			}
		})
	}
}

// Kinds and values of the language that this build cannot run are accepted by check, and named with the reason.
func TestLater(t *testing.T) {
	for _, tc := range []struct{ do, want string }{
		{"- start: {builtin: balancer, listen: [h2c], upstreams: web, pick: random}", "balancer comes later"},
		{"- scale: {object: deployment/web, to: 8}", "no cluster driver"},
		{"- attack: {slowloris: {connections: 2}}", "proxy capacity"},
		{"- rollout: deployment/web", "no cluster driver"},
	} {
		p, problems := loadPlan(t, "", tc.do)
		if len(problems) > 0 {
			t.Errorf("%s: %q", tc.do, problems)
			continue
		}
		if later := p.Scenarios[0].Later(); len(later) == 0 || !strings.Contains(later.Error(), tc.want) {
			t.Errorf("%s: later: %v", tc.do, later)
		}
	}
}

// The plans of the design load with these kinds.
func TestSketches(t *testing.T) {
	const dir = "../dsl/testdata/sketches/"
	for _, name := range []string{"quickstart", "round2", "proxy-capacity", "thread-concentration"} {
		var probes []dsl.Kind
		for _, p := range []string{"backend-connections", "balancer", "host", "relay"} {
			probes = append(probes, dsl.Kind{Name: p, Doc: "A probe.", New: func() any { return &struct{}{} }})
		}
		probes = append(probes, dsl.Kind{Name: "prometheus", Doc: "A probe.", New: func() any {
			return &struct {
				Keep dsl.Map[dsl.Value] `yaml:"keep" doc:"what is kept"`
			}{}
		}})
		_, list := dsl.Load(dir+name+".yaml", dsl.Options{
			Vocabulary: dsl.Vocabulary{Actions: Kinds, Probes: probes},
			ReadFile: func(path string) ([]byte, error) {
				b, err := os.ReadFile(path)
				if os.IsNotExist(err) && strings.Contains(path, "/targets/") {
					return []byte("about: stands in for a target that the sketch does not show\ninstall: [start: {command: [x], listen: [http]}]\n"), nil
				}
				return b, err
			},
		})
		for _, p := range list {
			t.Errorf("%s: %v", name, p)
		}
	}
}
