package crosscheck

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

func fmtFloat(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

func at(rate float64) []load.RateStep { return []load.RateStep{{From: rate, To: rate}} }

// job is a load as its workers get it, changed.
func job(change func(s *load.Spec)) Job {
	s := load.Spec{Address: "127.0.0.1:8080", Host: "bench.local", Method: "GET", Path: "/small?x=1", Connections: 16, Reuse: true, Timeout: 2500 * time.Millisecond}
	if change != nil {
		change(&s)
	}
	return Job{Spec: s, Length: 2 * time.Second, CPUs: 2}
}

func secure(protocol string) func(s *load.Spec) {
	return func(s *load.Spec) {
		s.Scheme, s.Protocol, s.Address, s.Connections, s.Streams = "https", protocol, "127.0.0.1:8443", 1, 8
		if protocol == "h1" {
			s.Streams = 1
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		generator string
		change    func(s *load.Spec)
		want      string // the command that sends; parts that another case shows are left out
		without   string
	}{
		{"wrk", nil, "wrk -t 2 -c 16 -d 2s --timeout 3s -s wrk.lua http://127.0.0.1:8080/small?x=1", ""},
		{"wrk", func(s *load.Spec) { s.Connections = 1 }, "-t 1 -c 1", ""},
		{"h2load", nil, "h2load -D 2s -c 16 -t 2 -m 1 --connect-to=127.0.0.1:8080 --log-file=requests.log -H :method: GET --h1 http://bench.local/small?x=1", "--rps"},
		{"h2load", func(s *load.Spec) { s.Rate = at(200) }, "--rps=12.5", ""},
		{"h2load", secure("h2"), "-c 1 -t 1 -m 8 --connect-to=127.0.0.1:8443 --log-file=requests.log -H :method: GET https://bench.local/small?x=1", "--h1"},
		{"h2load", func(s *load.Spec) { secure("h2")(s); s.TLSGroups = []string{"X25519", "P-256"} }, "--groups=X25519:P-256 ", ""},
		{"h2load", func(s *load.Spec) { s.Protocol, s.Streams, s.InFlight = "h2c", load.MaxStreams, 64 }, "-m 4", ""},
		{"h2load", func(s *load.Spec) { s.Protocol, s.Streams = "h2c", load.MaxStreams }, "-m 1000", ""},
		{"h2load", func(s *load.Spec) {
			s.Method, s.Body, s.Headers = "PUT", []byte("x"), []load.Header{{Name: "A", Value: "b"}}
		}, "-H :method: PUT --h1 -H A: b -d body", ""},
		{"fortio", nil, "fortio load -loglevel Critical -log-errors=false -allow-initial-errors -json fortio.json -r 0.00001 -p 50,90,99,99.9 -k -c 16 -qps 0 -t 2s -timeout 2.5s -X GET -H Host:bench.local http://127.0.0.1:8080/small?x=1", "-resolve"},
		{"fortio", func(s *load.Spec) { secure("h2")(s); s.Streams = 1 }, "-h2 -stdclient -resolve 127.0.0.1 https://bench.local:8443/small?x=1", ""},
		{"fortio", secure("h2"), "-c 8 -qps 0", ""},
		{"fortio", func(s *load.Spec) { secure("h2")(s); s.Streams, s.Rate = load.MaxStreams, at(10) }, "-c 1 -qps 10", ""},
		{"fortio", func(s *load.Spec) { secure("h1")(s); s.Host = "10.0.0.1" }, "-H Host:10.0.0.1 https://127.0.0.1:8443/small?x=1", "-resolve"},
		{"fortio", func(s *load.Spec) { s.Address, s.Reuse, s.Rate = "[::1]:80", false, at(10.5) }, "-uniform -keepalive=false -resolve-ip-type ip6 http://[::1]:80/small?x=1", "-qps 0"},
		{"fortio", func(s *load.Spec) {
			s.Body, s.Headers = []byte("x"), []load.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "A", Value: "b"}}
		}, "-content-type text/plain -H A:b -payload-file body", ""},
		{"vegeta", nil, "vegeta attack -format json -targets targets.json -output results.bin -rate 0/1s -duration 2s -connections 16 -max-connections 16 -workers 16 -max-workers 16 -timeout 2.5s -insecure -redirects -1 -max-body 0 -http2=false", "-connect-to"},
		{"vegeta", func(s *load.Spec) { s.Rate, s.Reuse = at(2.5), false }, "-rate 2500/1000s", ""},
		{"vegeta", func(s *load.Spec) { secure("h2")(s); s.ServerName = "sni.local" }, "-connections 1 -max-connections 1 -workers 8 -max-workers 8 -timeout 2.5s -insecure -redirects -1 -max-body 0 -connect-to sni.local:8443:127.0.0.1:8443", "-h2c"},
		{"vegeta", func(s *load.Spec) { s.Protocol, s.Connections = "h2c", 1 }, "-h2c", "-http2=false"},
	} {
		j := job(c.change)
		if why := Find(c.generator).Cannot(j.Spec); why != "" {
			t.Errorf("%s %s", c.generator, why)
		}
		p := Find(c.generator).Prepare(j)
		got := strings.Join(p.Commands[0].Args, " ")
		if !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
			t.Errorf("%s: %s\nwant %q without %q", c.generator, got, c.want, c.without)
		}
		if p.Method == "" || !strings.HasSuffix(p.Method, ".") {
			t.Errorf("%s: its method is %q", c.generator, p.Method)
		}
	}
}

// What is no measure of the same says so.
func TestOtherwise(t *testing.T) {
	for _, c := range []struct {
		generator string
		change    func(s *load.Spec)
		want      string
	}{
		{"fortio", nil, ""}, {"vegeta", nil, ""}, {"wrk", nil, ""},
		{"fortio", func(s *load.Spec) { s.Reuse = false }, "connecting"},
		{"vegeta", func(s *load.Spec) { s.Reuse = false }, "connecting"},
		{"wrk", func(s *load.Spec) { s.Reuse = false }, ""},
		{"wrk", func(s *load.Spec) { secure("h1")(s); s.Reuse = false }, ""},
		{"wrk", func(s *load.Spec) { secure("h1")(s); s.Reuse, s.Resume = false, true }, "full handshakes"},
		{"wrk", func(s *load.Spec) { secure("h1")(s); s.Resume = true }, ""},
	} {
		if got := Find(c.generator).Prepare(job(c.change)).Otherwise; (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.generator, got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	body := func(s *load.Spec) {
		s.Method, s.Body, s.Reuse, s.Headers = "PUT", []byte("a\"\\\n\x00\xff"), false, []load.Header{{Name: "X-A", Value: `1"`}}
	}
	for _, c := range []struct{ generator, file, want string }{
		{"wrk", wrkScript, "wrk.method = \"PUT\"\nwrk.body = \"a\\034\\092\\010\\000\\255\"\nwrk.headers[\"Host\"] = \"bench.local\"\nwrk.headers[\"X-A\"] = \"1\\034\"\nwrk.headers[\"Connection\"] = \"close\"\n\nfunction done("},
		{"fortio", fortioBody, "a\"\\\n\x00\xff"},
		{"vegeta", vegetaTargets, `{"method":"PUT","url":"http://127.0.0.1:8080/small?x=1","body":"YSJcCgD/","header":{"Accept-Encoding":["identity"],"Host":["bench.local"],"X-A":["1\""]}}` + "\n"},
	} {
		if got := Find(c.generator).Prepare(job(body)).Files[c.file]; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %q\nwant %q", c.generator, c.file, got, c.want)
		}
	}
}

func TestCannot(t *testing.T) {
	all := Names()
	for _, c := range []struct {
		name   string
		change func(s *load.Spec)
		cannot []string
		says   string
	}{
		{"closed loop", nil, nil, ""},
		{"a rate", func(s *load.Spec) { s.Rate = at(100) }, []string{"wrk"}, "is a closed loop"},
		{"steps of one rate", func(s *load.Spec) {
			s.Rate = []load.RateStep{{From: 5, To: 5, Over: time.Second}, {From: 5, To: 5}}
		}, []string{"wrk"}, "closed loop"},
		{"a ramp", func(s *load.Spec) {
			s.Rate = []load.RateStep{{From: 5, To: 10, Over: time.Second}, {From: 10, To: 10}}
		}, all, "changes"},
		{"steps", func(s *load.Spec) {
			s.Rate = []load.RateStep{{From: 5, To: 5, Over: time.Second}, {From: 10, To: 10}}
		}, all, "changes"},
		{"HTTP/2", func(s *load.Spec) { s.Protocol, s.Connections, s.Streams = "h2c", 1, 1 }, []string{"wrk"}, "HTTP/1.1 only"},
		{"streams", func(s *load.Spec) { s.Protocol, s.Connections, s.Streams = "h2c", 1, 4 }, []string{"wrk"}, ""},
		{"many streams", func(s *load.Spec) { s.Protocol, s.Streams = "h2c", 100 }, []string{"fortio", "vegeta", "wrk"}, ""},
		{"HTTP/2 connections", func(s *load.Spec) { s.Protocol = "h2c" }, []string{"vegeta", "wrk"}, ""},
		{"new connections", func(s *load.Spec) { s.Reuse = false }, []string{"h2load"}, "a connection for each request"},
		{"new HTTP/2 connections", func(s *load.Spec) { s.Protocol, s.Connections, s.Reuse = "h2c", 1, false }, all, ""},
		{"HEAD", func(s *load.Spec) { s.Method = "HEAD" }, []string{"h2load", "wrk"}, "without a body"},
		{"a header twice", func(s *load.Spec) { s.Headers = []load.Header{{Name: "A", Value: "1"}, {Name: "a", Value: "2"}} }, []string{"wrk"}, "sends a several times"},
		{"another server name", func(s *load.Spec) { secure("h1")(s); s.ServerName = "sni.local" }, []string{"h2load"}, "server name"},
		{"a proxy", func(s *load.Spec) { s.Proxy = "127.0.0.1:3128" }, all, "proxy"},
		{"varied paths", func(s *load.Spec) { s.SpreadPath = "/{0..9}" }, all, "varies"},
		{"more connections", func(s *load.Spec) { s.Pool = "dial" }, all, "opens others"},
		{"all in flight", func(s *load.Spec) { s.InFlight = 16 }, nil, ""},
		{"few in flight", func(s *load.Spec) { s.InFlight = 4 }, all, "in flight"},
		{"streams of the server", func(s *load.Spec) {
			s.Protocol, s.Connections, s.Streams, s.Rate = "h2c", 1, load.MaxStreams, at(10)
		}, []string{"wrk"}, "HTTP/1.1 only"},
		{"in flight, evenly", func(s *load.Spec) { s.Protocol, s.Streams, s.InFlight = "h2c", load.MaxStreams, 64 }, []string{"vegeta", "wrk"}, ""},
		{"sources", func(s *load.Spec) { s.Sources = []string{"127.0.1.0/24"} }, all, "from several"},
		{"slow reader", func(s *load.Spec) { s.ReadRate = 1000 }, all, "slower"},
	} {
		var cannot []string
		for _, g := range Generators {
			if why := g.Cannot(job(c.change).Spec); why != "" {
				cannot = append(cannot, g.Name)
				if !strings.Contains(why, c.says) {
					t.Errorf("%s: %s %s; want %q", c.name, g.Name, why, c.says)
				}
			}
		}
		if !slices.Equal(cannot, c.cannot) {
			t.Errorf("%s: %v cannot, want %v", c.name, cannot, c.cannot)
		}
	}
	if !slices.IsSorted(all) || Find("ab") != nil {
		t.Errorf("the generators are %v", all)
	}
}

func TestAbove(t *testing.T) {
	for _, c := range []struct {
		ours, theirs float64
		want         bool
	}{
		{0.2, 0.2, false}, {0.7, 0.2, false}, {0.71, 0.2, true}, {2.2, 0.2, true}, // half a millisecond
		{15, 10, false}, {15.1, 10, true}, {12, 10, false}, // a half
		{0.2, 2.2, false}, {1, 10, false}, // lower is no fault
	} {
		if got := Above(c.ours, c.theirs); got != c.want {
			t.Errorf("Above(%v, %v) = %v", c.ours, c.theirs, got)
		}
	}
}

func TestComparable(t *testing.T) {
	for _, c := range []struct {
		f    record.Figures
		says string
	}{
		{record.Figures{Requests: 1000, Failed: 10, P50: ms(1)}, ""},
		{record.Figures{Requests: 20, P50: ms(1)}, ""},
		{record.Figures{}, "nothing was answered"},
		{record.Figures{Requests: 5, Failed: 5, P50: ms(1)}, "nothing was answered"},
		{record.Figures{Requests: 1000, Failed: 11, P50: ms(1)}, "11 of 1000 requests failed"},
		{record.Figures{Requests: 19, P50: ms(1)}, "19 answers are too few"},
		{record.Figures{Requests: 1000}, "no p50"},
		{record.Figures{Requests: 1000, P50: ms(1), Otherwise: "its latencies include connecting"}, "connecting"},
	} {
		if got := Comparable(c.f); got != c.says && (c.says == "" || !strings.Contains(got, c.says)) {
			t.Errorf("%+v: %q, want %q", c.f, got, c.says)
		}
	}
}
