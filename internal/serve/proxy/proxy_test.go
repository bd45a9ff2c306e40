package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

var everywhere = map[string]string{"http": "127.0.0.1:0", "https": "127.0.0.1:0", "h2c": "127.0.0.1:0"}

func start(t *testing.T, spec Spec) *Server {
	t.Helper()
	if spec.Listen == nil {
		spec.Listen = everywhere
	}
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(servetest.Over()) })
	return s
}

// backend is an origin that says its name.
func backend(t *testing.T, name string) (*origin.Server, string) {
	t.Helper()
	o, err := origin.Start(origin.Spec{Name: name, ServedBy: true, Listen: map[string]string{"http": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Stop(servetest.Over()) })
	return o, o.Addresses()["http"]
}

var ways = []struct{ protocol, listener, scheme string }{
	{"h1", "http", "http"}, {"h1", "https", "https"}, {"h2", "https", "https"}, {"h2c", "h2c", "http"},
}

func TestPassesOn(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			servetest.CheckLeaks(t)
			one, first := backend(t, "one")
			two, second := backend(t, "two")
			s := start(t, Spec{Upstreams: []string{first, second}})
			client := servetest.NewClient(t, way.protocol)
			by := map[string]int{}
			for _, test := range []struct {
				method, path, body string
				code               int
				want               []byte
			}{
				{"GET", "/small", "", 200, []byte(origin.Small)},
				{"HEAD", "/100k", "", 200, nil},
				{"GET", "/100k", "", 200, servetest.Body(102400)},
				{"GET", "/chunked/50000", "", 200, servetest.Body(50000)},
				{"GET", "/status/204", "", 204, nil},
				{"GET", "/status/418", "", 418, []byte("418 I'm a teapot\n")},
				{"PUT", "/upload", strings.Repeat("x", 200000), 200, []byte("200000\n")},
				{"GET", "/small?a=1;b=2", "", 200, []byte(origin.Small)},
			} {
				request, _ := http.NewRequest(test.method, way.scheme+"://"+s.Addresses()[way.listener]+test.path, strings.NewReader(test.body))
				answer, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != test.code || !bytes.Equal(body, test.want) {
					t.Errorf("%s %s: %d with %d bytes, %v", test.method, test.path, answer.StatusCode, len(body), err)
				}
				by[answer.Header.Get("x-served-by")]++
			}
			if !maps.Equal(by, map[string]int{"one": 4, "two": 4}) {
				t.Errorf("not in turn: %v", by)
			}
			s.Stop(t.Context())
			one.Stop(t.Context())
			two.Stop(t.Context())
			sample := s.Sample()
			atOne, _ := one.Sample().Total()
			atTwo, _ := two.Sample().Total()
			if sample.Received != 8 || sample.Answered != 8 || sample.InFlight != 0 || sample.Errors != 0 || sample.Canceled != 0 || atOne+atTwo != 8 {
				t.Errorf("counted %+v, the origins %d and %d", sample, atOne, atTwo)
			}
			if u := sample.Upstreams[first]; u.Requests != 4 || u.Opened != one.Sample().Listeners["http"].Opened || u.Live != 0 || u.BytesIn == 0 || u.BytesOut == 0 {
				t.Errorf("upstream %+v", u)
			}
			if l := sample.Listeners[way.listener]; l.Opened != client.Dialled.Load() || l.Live != 0 || l.BytesIn < 200000 || l.BytesOut < 150000 {
				t.Errorf("listener %+v", l)
			}
		})
	}
}

func TestRequestsPassAsTheyCame(t *testing.T) {
	servetest.CheckLeaks(t)
	seen := make(chan string, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, _ := httputil.DumpRequest(r, false)
		seen <- string(dump)
	}))
	defer upstream.Close()
	s := start(t, Spec{Upstreams: []string{upstream.Listener.Addr().String()}})
	c, err := net.Dial("tcp", s.Addresses()["http"])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /a%2Fb//c/../d?x=%zz&y;z HTTP/1.1\r\nHost: Some.Where:81\r\nX-Forwarded-For: 1.2.3.4\r\n"+
		"Forwarded: for=5.6.7.8\r\nX-Forwarded-Proto: gopher\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\n")
	want := "GET /a%2Fb//c/../d?x=%zz&y;z HTTP/1.1\r\nHost: Some.Where:81\r\nForwarded: for=5.6.7.8\r\nX-Forwarded-For: 1.2.3.4\r\n" +
		"X-Forwarded-Proto: gopher\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\n"
	if got := <-seen; got != want {
		t.Errorf("arrived as\n%s\nwant\n%s", got, want)
	}
}

func TestRoutes(t *testing.T) {
	find := func(address string) *upstream { return &upstream{address: address} }
	table, err := newTable([]string{"default:1"}, []Route{
		{Host: "a.example", Upstreams: []string{"a:1"}},
		{Host: "A.example", Path: "/x/", Upstreams: []string{"ax:1"}},
		{Host: "a.example", Path: "/x/y", Upstreams: []string{"axy:1"}},
		{Path: "/any", Upstreams: []string{"any:1"}},
		{Host: "::1", Upstreams: []string{"six:1"}},
	}, find)
	if err != nil {
		t.Fatal(err)
	}
	if table.size != (Reply{6, 5}) {
		t.Errorf("size %+v", table.size)
	}
	for _, test := range []struct{ host, path, want string }{
		{"a.example", "/", "a:1"}, {"a.example:80", "/x", "ax:1"}, {"A.EXAMPLE", "/x/z", "ax:1"}, {"a.example", "/xy", "a:1"},
		{"a.example", "/x/y/z", "axy:1"}, {"b.example", "/any/1", "any:1"}, {"b.example", "/anyone", "default:1"},
		{"[::1]:80", "/", "six:1"}, {"::1", "/", "six:1"}, {"", "/", "default:1"},
	} {
		if got := table.find(test.host, test.path).pick().address; got != test.want {
			t.Errorf("%s%s goes to %s, want %s", test.host, test.path, got, test.want)
		}
	}
	for _, test := range []struct {
		routes []Route
		want   string
	}{
		{[]Route{{Path: "x"}}, "begins with /"},
		{[]Route{{Host: "a"}, {Host: "A"}}, "two of them"},
		{[]Route{{Upstreams: []string{"nowhere"}}}, "missing port"},
	} {
		if _, err := newTable(nil, test.routes, find); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.routes, err, test.want)
		}
	}
}

func TestControlUnderTraffic(t *testing.T) {
	servetest.CheckLeaks(t)
	_, one := backend(t, "one")
	_, two := backend(t, "two")
	s := start(t, Spec{Upstreams: []string{one}})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		client := servetest.NewClient(t, "h1")
		wg.Go(func() {
			for ctx.Err() == nil {
				answer, err := client.Get("http://" + s.Addresses()["http"] + "/small")
				if err != nil || answer.StatusCode != 200 {
					t.Errorf("while routes change: %v, %v", answer, err)
					return
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
	}
	for i := range 300 {
		list := []string{[]string{one, two}[i%2]}
		routes := []Route{{Path: "/small", Upstreams: list}}
		if i%3 == 0 {
			routes = []Route{}
		}
		if _, err := s.Control(Control{&list, &routes}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	wg.Wait()
	if _, err := s.Control(Control{Routes: &[]Route{{Path: "bad"}}}); err == nil {
		t.Error("a wrong route was taken")
	}
	sample := s.Sample()
	if sample.Errors != 0 || sample.Upstreams[one].Requests == 0 || sample.Upstreams[two].Requests == 0 {
		t.Errorf("counted %+v", sample)
	}
	servetest.Eventually(t, "all answered", func() bool { n := s.Sample(); return n.Answered == n.Received })
}

func TestFailures(t *testing.T) {
	servetest.CheckLeaks(t)
	_, web := backend(t, "web")
	s := start(t, Spec{Timeout: time.Second, Routes: []Route{
		{Path: "/gone", Upstreams: []string{servetest.Refusing(t)}}, {Path: "/empty"},
		{Path: "/stall", Upstreams: []string{web}}, {Path: "/reset", Upstreams: []string{web}},
	}})
	client := servetest.NewClient(t, "h1")
	for _, test := range []struct {
		path string
		code int
	}{{"/gone", 502}, {"/empty", 503}, {"/nothing", 404}, {"/stall", 504}, {"/reset/1000000", 200}} {
		answer, err := client.Get("http://" + s.Addresses()["http"] + test.path)
		if err != nil || answer.StatusCode != test.code {
			t.Fatalf("%s: %v, %v, want %d", test.path, answer, err, test.code)
		}
		if _, err := io.Copy(io.Discard, answer.Body); (err != nil) != (test.code == 200) {
			t.Errorf("%s: body ended with %v", test.path, err)
		}
		answer.Body.Close()
	}
	patient := start(t, Spec{Upstreams: []string{web}})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		request, _ := http.NewRequestWithContext(ctx, "GET", "http://"+patient.Addresses()["http"]+"/stall", nil)
		_, err := client.Do(request)
		left <- err
	}()
	servetest.Eventually(t, "in flight", func() bool { return patient.Sample().InFlight == 1 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("left with %v", err)
	}
	servetest.Eventually(t, "nothing in flight", func() bool { return patient.Sample().InFlight == 0 })
	if sample := patient.Sample(); sample.Received != 1 || sample.Answered != 0 || sample.Errors != 0 || sample.Canceled != 1 {
		t.Errorf("counted %+v of a client that left", sample)
	}
	servetest.Eventually(t, "nothing in flight", func() bool { return s.Sample().InFlight == 0 })
	sample := s.Sample()
	if sample.Received != 5 || sample.Answered != 4 || sample.Errors != 3 || sample.NoRoute != 2 || sample.Canceled != 0 {
		t.Errorf("counted %+v", sample)
	}
}

func TestGracefulStop(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			servetest.CheckLeaks(t)
			release := make(chan struct{})
			web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
			defer web.Close()
			s := start(t, Spec{Upstreams: []string{web.Listener.Addr().String()}})
			address := s.Addresses()[way.listener]
			servetest.Dial(t, address) // on which no request begins
			client := servetest.NewClient(t, way.protocol)
			answered := make(chan error, 1)
			go func() {
				answer, err := client.Get(way.scheme + "://" + address + "/")
				if err == nil {
					answer.Body.Close()
				}
				answered <- err
			}()
			servetest.Eventually(t, "in flight", func() bool { return s.Sample().InFlight == 1 })
			stopped := make(chan struct{})
			go func() {
				s.Stop(t.Context())
				close(stopped)
			}()
			servetest.Eventually(t, "listens no more", func() bool { return servetest.Refuses(address) })
			close(release)
			<-stopped
			if err := <-answered; err != nil {
				t.Error(err)
			}
			if n := s.Sample(); n.Answered != 1 || n.Listeners[way.listener].Live != 0 {
				t.Errorf("counted %+v", n)
			}
		})
	}
}

func TestSpecErrors(t *testing.T) {
	for _, test := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "needs a listener"},
		{Spec{Listen: map[string]string{"h3": "127.0.0.1:0"}}, `listener "h3" of a proxy: there are http, https and h2c`},
		{Spec{Listen: everywhere, Upstreams: []string{"x"}}, `upstream "x"`},
	} {
		_, err := Start(test.spec)
		if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" || !strings.Contains(e.Message, test.want) {
			t.Errorf("%+v: %v, want %q", test.spec, err, test.want)
		}
	}
	if got := slices.Sorted(maps.Keys(start(t, Spec{}).Addresses())); !slices.Equal(got, []string{"h2c", "http", "https"}) {
		t.Errorf("listens on %v", got)
	}
}
