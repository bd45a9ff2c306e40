package origin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// start runs an origin with all three listeners and sees to it that nothing is left of it.
func start(t *testing.T, change ...func(*Spec)) *Server {
	t.Helper()
	servetest.CheckLeaks(t)
	spec := Spec{Name: "web-1", Listen: map[string]string{"http": "127.0.0.1:0", "https": "127.0.0.1:0", "h2c": "127.0.0.1:0"}}
	for _, f := range change {
		f(&spec)
	}
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop(servetest.Over())
	})
	return s
}

// ways are a client's protocol and the listener it speaks to.
var ways = []struct{ protocol, listener, scheme string }{
	{"h1", "http", "http"}, {"h1", "h2c", "http"}, {"h1", "https", "https"},
	{"h2", "https", "https"}, {"h2c", "h2c", "http"}, {"h2c", "http", "http"},
}

func TestAnswers(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			s := start(t)
			client := servetest.NewClient(t, way.protocol)
			base := way.scheme + "://" + s.Addresses()[way.listener]
			requests := 0
			for _, test := range []struct {
				method, path, body string
				code               int
				want               []byte
				length             int64 // as announced
			}{
				{"GET", "/small", "", 200, []byte("hello, world\n"), 13},
				{"GET", "/small?x=/100k", "", 200, []byte(Small), 13},
				{"POST", "/small", "ignored", 200, []byte(Small), 13},
				{"HEAD", "/small", "", 200, nil, 13},
				{"GET", "/100k", "", 200, servetest.Body(102400), 102400},
				{"HEAD", "/100k", "", 200, nil, 102400},
				{"GET", "/bytes/0", "", 200, nil, 0},
				{"GET", "/bytes/70001", "", 200, servetest.Body(70001), 70001},
				{"GET", "/bytes/3000000", "", 200, servetest.Body(3000000), 3000000},
				{"HEAD", "/bytes/3000000", "", 200, nil, 3000000},
				{"GET", "/chunked/0", "", 200, nil, -1},
				{"GET", "/chunked/1", "", 200, servetest.Body(1), -1},
				{"GET", "/chunked/100000", "", 200, servetest.Body(100000), -1},
				{"GET", "/delay/1ms", "", 200, []byte(Small), 13},
				{"GET", "/status/200", "", 200, []byte("200 OK\n"), 7},
				{"GET", "/status/204", "", 204, nil, 0},
				{"GET", "/status/304", "", 304, nil, 0},
				{"HEAD", "/status/503", "", 503, nil, 24},
				{"GET", "/status/503", "", 503, []byte("503 Service Unavailable\n"), 24},
				{"GET", "/status/199", "", 404, []byte("404 Not Found\n"), 14},
				{"PUT", "/upload", strings.Repeat("x", 300001), 200, []byte("300001\n"), 7},
				{"POST", "/upload", "", 200, []byte("0\n"), 2},
				{"GET", "/delay/2h", "", 404, []byte("404 Not Found\n"), 14},
				{"GET", "/nothing", "", 404, []byte("404 Not Found\n"), 14},
			} {
				request, _ := http.NewRequest(test.method, base+test.path, strings.NewReader(test.body))
				answer, err := client.Do(request)
				if err != nil {
					t.Fatalf("%s %s: %v", test.method, test.path, err)
				}
				requests++
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != test.code || !bytes.Equal(body, test.want) {
					t.Errorf("%s %s: %d with %d bytes (%v), want %d with %d", test.method, test.path, answer.StatusCode, len(body), err, test.code, len(test.want))
				}
				// net/http's HTTP/2 client tells no length of an answer that cannot have a body
				if answer.ContentLength != test.length && !(test.want == nil && answer.ContentLength <= 0) {
					t.Errorf("%s %s: length %d, want %d", test.method, test.path, answer.ContentLength, test.length)
				}
				if answer.Header.Get("Date") == "" || answer.Header.Get("X-Served-By") != "" {
					t.Errorf("%s %s: header %v", test.method, test.path, answer.Header)
				}
			}
			s.Stop(t.Context())
			sample := s.Sample()
			received, answered := sample.Total()
			l := sample.Listeners[way.listener]
			if received != int64(requests) || answered != received || l.Received != received {
				t.Errorf("received %d, answered %d, want %d of both: %+v", received, answered, requests, sample)
			}
			if l.Opened != client.Dialled.Load() || l.Live != 0 {
				t.Errorf("opened %d of %d, %d live", l.Opened, client.Dialled.Load(), l.Live)
			}
			if l.Classes["upload"] != (Class{2, 2}) || l.Status[404] != 3 || l.BytesOut < 3000000 || l.BytesIn < 300001 {
				t.Errorf("counted %+v", l)
			}
		})
	}
}

func TestServedBy(t *testing.T) {
	s := start(t, func(s *Spec) { s.ServedBy = true })
	for _, on := range []bool{true, false, true} {
		s.Control(Control{ServedBy: &on})
		for _, way := range ways {
			answer, err := servetest.NewClient(t, way.protocol).Get(way.scheme + "://" + s.Addresses()[way.listener] + "/small")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if got := answer.Header.Get("x-served-by") == "web-1"; got != on {
				t.Errorf("%s on %s: served by %q", way.protocol, way.listener, answer.Header.Get("x-served-by"))
			}
		}
	}
}

func TestResetAndStall(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			s := start(t)
			client := servetest.NewClient(t, way.protocol)
			base := way.scheme + "://" + s.Addresses()[way.listener]
			for _, n := range []int{0, 1, 50000} {
				answer, err := client.Get(fmt.Sprint(base, "/reset/", n))
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if !bytes.Equal(body, servetest.Body(n)) {
					t.Errorf("%d bytes before the reset, want %d", len(body), n)
				}
				want := "connection reset by peer"
				if way.protocol != "h1" {
					want = "stream error"
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("ended with %v, want %s", err, want)
				}
			}
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() {
				request, _ := http.NewRequestWithContext(ctx, "GET", base+"/stall", nil)
				_, err := client.Do(request)
				left <- err
			}()
			servetest.Eventually(t, "stalls", func() bool { return s.Sample().Listeners[way.listener].Classes["stall"].Received == 1 })
			leave()
			if err := <-left; err == nil {
				t.Error("/stall was answered")
			}
			servetest.Eventually(t, "all closed", func() bool {
				client.CloseIdleConnections()
				return s.Sample().Listeners[way.listener].Live == 0
			})
			l := s.Sample().Listeners[way.listener]
			if l.Classes["stall"] != (Class{1, 0}) || l.Classes["reset"] != (Class{3, 0}) {
				t.Errorf("counted %+v", l)
			}
		})
	}
}

func TestGracefulStop(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			s := start(t)
			client := servetest.NewClient(t, way.protocol)
			base := way.scheme + "://" + s.Addresses()[way.listener]
			get := func(path string, into chan error) {
				answer, err := client.Get(base + path)
				if err == nil {
					_, err = io.ReadAll(answer.Body)
					answer.Body.Close()
				}
				into <- err
			}
			delayed, stalled := make(chan error, 1), make(chan error, 1)
			go get("/delay/300ms", delayed)
			go get("/stall", stalled)
			servetest.Eventually(t, "both have begun", func() bool { n, _ := s.Sample().Total(); return n == 2 })
			s.Stop(t.Context())
			if err := <-delayed; err != nil {
				t.Errorf("a request in flight: %v", err)
			}
			if err := <-stalled; err == nil {
				t.Error("a stalled request was answered")
			}
			if received, answered := s.Sample().Total(); received != 2 || answered != 1 {
				t.Errorf("received %d, answered %d, want 2 and 1", received, answered)
			}
			if !servetest.Refuses(s.Addresses()[way.listener]) {
				t.Error("still listens")
			}
		})
	}
}

func TestHardStop(t *testing.T) {
	for _, way := range ways {
		t.Run(way.protocol+" on "+way.listener, func(t *testing.T) {
			s := start(t)
			client := servetest.NewClient(t, way.protocol)
			failed := make(chan error, 1)
			go func() {
				_, err := client.Get(way.scheme + "://" + s.Addresses()[way.listener] + "/delay/1h")
				failed <- err
			}()
			servetest.Eventually(t, "it has begun", func() bool { n, _ := s.Sample().Total(); return n == 1 })
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			s.Stop(ctx)
			if err := <-failed; err == nil {
				t.Error("a request of an hour was answered")
			}
		})
	}
}

func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal("curl is needed: ", err)
	}
	s := start(t)
	for _, test := range []struct{ option, listener, scheme, want string }{
		{"--http1.1", "http", "http", "1.1 200 102400"},
		{"--http1.0", "http", "http", "1.1 200 102400"}, // the version of the answer
		{"--http2-prior-knowledge", "http", "http", "2 200 102400"},
		{"--http2", "https", "https", "2 200 102400"},
		{"--http1.1", "https", "https", "1.1 200 102400"},
	} {
		out, err := exec.Command(curl, "-sk", test.option, "-o", "/dev/null", "-w", "%{http_version} %{http_code} %{size_download}",
			test.scheme+"://"+s.Addresses()[test.listener]+"/100k").CombinedOutput()
		if err != nil || string(out) != test.want {
			t.Errorf("curl %s on %s: %q (%v), want %q", test.option, test.listener, out, err, test.want)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	for _, test := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "needs a listener"},
		{Spec{Listen: map[string]string{"htp": "127.0.0.1:0"}}, `listener "htp" of an origin: there are http, https and h2c`},
		{Spec{Listen: map[string]string{"http": "127.0.0.1"}}, "missing port"},
	} {
		if _, err := Start(test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.spec, err, test.want)
		}
	}
}
