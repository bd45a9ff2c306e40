package actions

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

// A loader keeps what a load asks of the engine.
type loader struct {
	spec load.Spec
	opts task.LoadOptions
}

func (l *loader) Prepare(_ context.Context, s load.Spec, o task.LoadOptions) (task.PreparedLoad, error) {
	l.spec, l.opts = s, o
	return nil, nil
}

func loadEnv(l *loader) *task.Env {
	return &task.Env{
		Name: "small", Loads: l,
		Endpoint: func(name string) (string, error) {
			return map[string]string{"http": "127.0.0.1:80", "https": "127.0.0.1:443", "six": "[::1]:80"}[name], nil
		},
		Allowed: func(_ string, ip netip.Addr) error {
			if ip == netip.MustParseAddr("192.0.2.1") {
				return errors.New("it is public")
			}
			return nil
		},
	}
}

// What a plan writes arrives at the workers, each key in its field.
func TestLoadSpec(t *testing.T) {
	def := load.Spec{Protocol: "h1", Scheme: "http", Address: "127.0.0.1:80", Host: "127.0.0.1:80", Method: "GET", Path: "/", Body: []byte{},
		Connections: 1, Streams: 1, Pool: "fixed", Reuse: true, MaxWaiting: 100_000, Timeout: 10 * time.Second}
	for _, tc := range []struct {
		load string
		want func(*load.Spec)
	}{
		{"{}", func(*load.Spec) {}},
		{"{spread: {path: '/i/{0..9}'}, by: 'header( x-served-by )'}", func(s *load.Spec) { s.SpreadPath, s.By = "/i/{0..9}", "x-served-by" }},
		{"{endpoint: https, tls: {server-name: a, resume: true, groups: [P-256]}, host: b}", func(s *load.Spec) {
			s.Scheme, s.Address, s.Host, s.ServerName, s.Resume, s.TLSGroups = "https", "127.0.0.1:443", "b", "a", true, []string{"P-256"}
		}},
		{"{protocol: h2, endpoint: https, connections: 3, streams: 4, in-flight: 10}", func(s *load.Spec) {
			s.Protocol, s.Scheme, s.Address, s.Host, s.Connections, s.Streams, s.InFlight = "h2", "https", "127.0.0.1:443", "127.0.0.1:443", 3, 4, 10
		}},
		{"{protocol: h2c, in-flight: 10, pool: dial}", func(s *load.Spec) { s.Protocol, s.Streams, s.InFlight, s.Pool = "h2c", load.MaxStreams, 10, "dial" }},
		{"{protocol: h2c, connections: 2, rate: 10/s}", func(s *load.Spec) {
			s.Protocol, s.Connections, s.Streams, s.Rate = "h2c", 2, load.MaxStreams, []load.RateStep{{From: 10, To: 10}}
		}},
		{"{protocol: h2c, pool: distinct, rate: 10/s}", func(s *load.Spec) {
			s.Protocol, s.Pool, s.Rate = "h2c", "distinct", []load.RateStep{{From: 10, To: 10}}
		}},
		{"{protocol: h2c}", func(s *load.Spec) { s.Protocol = "h2c" }},
		{"{connect-rate: 5/s, read-rate: 4KiB/s}", func(s *load.Spec) { s.ConnectRate, s.ReadRate = 5, 4096 }},
		{"{reuse: none}", func(s *load.Spec) { s.Reuse = false }},
		{"{sources: [127.0.1.0/24, '::1', 127.0.0.9]}", func(s *load.Spec) { s.Sources = []string{"127.0.1.0/24", "127.0.0.9"} }},
		{"{endpoint: six, sources: [127.0.1.0/24, '::1']}", func(s *load.Spec) { s.Address, s.Host, s.Sources = "[::1]:80", "[::1]:80", []string{"::1"} }},
		{"{url: 'https://a.local/x?y', address: '127.0.0.1:7'}", func(s *load.Spec) { s.Scheme, s.Address, s.Host, s.Path = "https", "127.0.0.1:7", "a.local", "/x?y" }},
		{"{proxy: target, url: 'http://127.0.0.1:9/x'}", func(s *load.Spec) {
			s.Proxy, s.Address, s.Host, s.Path = "127.0.0.1:80", "127.0.0.1:9", "127.0.0.1:9", "/x"
		}},
		{"{proxy: target, url: 'https://localhost/', host: c}", func(s *load.Spec) {
			s.Proxy, s.Scheme, s.Address, s.Host = "127.0.0.1:80", "https", "localhost:443", "c"
		}},
	} {
		want := def
		tc.want(&want)
		got, err := specOf(t, tc.load)
		if err != nil {
			t.Errorf("%s: %v", tc.load, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", tc.load, diff)
		}
	}
	for text, want := range map[string]string{
		"{endpoint: six, sources: [127.0.0.1]}":                    "none of 127.0.0.1 is of the family of ::1",
		"{proxy: target, url: 'http://192.0.2.1:9/'}":              "it is public",
		"{url: 'http://192.0.2.1:9/'}":                             "it is public",
		"{proxy: target, url: 'http://there-is-none.invalid:9/x'}": "looking up there-is-none.invalid",
		"{url: 'http://127.0.0.1:9/', address: 'a.b.invalid:9'}":   "looking up a.b.invalid",
	} {
		if _, err := specOf(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func specOf(t *testing.T, text string) (load.Spec, error) {
	t.Helper()
	p, problems := loadPlan(t, "- start: {command: [x], listen: [http, https, six]}", "- load: "+text)
	if len(problems) > 0 {
		t.Fatalf("%s: %q", text, problems)
	}
	var l loader
	spec := p.Scenarios[0].Val.Phases[0].Val.Do[0].Val.Spec.(*Load)
	_, err := spec.Prepare(t.Context(), loadEnv(&l))
	return l.spec, err
}

// An entry of loads is judged with what the action that uses it adds.
func TestLoadEntries(t *testing.T) {
	for _, tc := range []struct{ entry, use, want string }{
		{"{protocol: h2, streams: 4}", "{use: e, endpoint: https}", ""},
		{"{protocol: h2}", "{use: e}", "h2 is HTTP/2 over TLS"},
		{"{streams: 4}", "{use: e, protocol: h2c}", ""},
		{"{streams: 4}", "{use: e}", "one request in flight"},
		{"{proxy: target}", "{use: e, url: 'http://127.0.0.1:80/x'}", ""},
		{"{pool: dial}", "{use: e, in-flight: 8}", ""},
		{"{workers: 4}", "{use: e, connections: 4}", ""},
	} {
		text := "plan: p\nloads: {e: " + tc.entry + "}\ntargets: {t: {endpoints: {http: '127.0.0.1:1', https: '127.0.0.1:2'}}}\n" +
			"scenarios: {s: {phases: [{measure: {for: 1s, do: [{load: " + tc.use + "}]}}]}}\n"
		_, list := dsl.Load("p.yaml", dsl.Options{Vocabulary: dsl.Vocabulary{Actions: Kinds}, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
		if tc.want == "" && len(list) > 0 || tc.want != "" && (len(list) != 1 || !strings.Contains(list.Error(), tc.want)) {
			t.Errorf("%s %s: %v, want %q", tc.entry, tc.use, list, tc.want)
		}
	}
}

func TestSourcePrefixes(t *testing.T) {
	assigned := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("10.1.9.9"), netip.MustParseAddr("fd00::7")}
	for _, tc := range []struct{ in, want, err string }{
		{"127.0.0.0/8", "127.0.0.0/8", ""},
		{"127.9.8.7/16", "127.9.0.0/16", ""},
		{"::1", "::1/128", ""},
		{"::ffff:127.0.0.2", "127.0.0.2/32", ""},
		{"10.1.2.3", "10.1.2.3/32", ""},
		{"10.1.0.0/16", "10.1.2.3/32 10.1.9.9/32", ""},
		{"fd00::/64", "fd00::7/128", ""},
		{"10.9.0.0/16", "", "has no address in 10.9.0.0/16"},
		{"10.1.2.4", "", "10.1.2.4 is no address of this machine"},
		{"fe80::1%eth0", "", "neither an address nor a network"},
		{"localhost", "", "neither an address nor a network"},
	} {
		got, err := sourcePrefixes([]string{tc.in}, assigned)
		var words []string
		for _, p := range got {
			words = append(words, p.String())
		}
		if s := strings.Join(words, " "); s != tc.want || (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %s, %v; want %s, %q", tc.in, s, err, tc.want, tc.err)
		}
	}
}

// What a load takes of the machine follows from its pool.
func TestLoadNeeds(t *testing.T) {
	for text, want := range map[string]int{
		"{connections: 7}":                 7,
		"{connections: 7, pool: distinct}": 7,
		"{pool: dial, in-flight: 30}":      30,
		"{protocol: h2c, connections: 2, streams: 4, pool: dial, in-flight: 30}": 8,
		"{protocol: h2c, connections: 2, pool: dial, in-flight: 30}":             2, // the server says how many streams fit
		"{protocol: h2c, connections: 2, streams: 4, pool: distinct}":            8,
	} {
		p, problems := loadPlan(t, "", "- load: "+text)
		if len(problems) > 0 {
			t.Fatalf("%s: %q", text, problems)
		}
		n := p.Scenarios[0].Val.Phases[0].Val.Do[0].Val.Spec.(*Load).Declares().Needs
		if n.Connections != want || n.Descriptors != want || n.Ports != want {
			t.Errorf("%s: %+v, want %d", text, n, want)
		}
	}
}
