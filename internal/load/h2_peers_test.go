package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/certificate"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/servetest"
)

// A site is a directory for a server's files, and an address of this machine that no other test uses, so that its ports are
// free.
type site struct{ dir, host string }

func newSite(t *testing.T) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "planrun-load") // a short name, which others may read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cert, key, err := certificate.SelfSigned(certificate.ECDSA, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir, host: fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()>>16&63, os.Getpid()>>8&255, 1+os.Getpid()&127)}
	s.write(t, "cert.pem", append(cert, key...))
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// port gives an address for a listener.
func (s *site) port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", s.host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run starts a program, waits until it listens and ends it with the test.
func (s *site) run(t *testing.T, address string, name string, args ...string) {
	t.Helper()
	path := name
	if _, err := exec.LookPath(name); err != nil {
		path = "/usr/sbin/" + name
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	var log bytes.Buffer
	cmd.Stderr, cmd.Stdout = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // with the thread that started it a program would end too
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("%v: install it with scripts/install-peers", err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", name, &log)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen: %s", name, &log)
		}
	}
}

// nginx serves h2 and h2c; every connection ends after a number of requests.
func (s *site) nginx(t *testing.T, requests int, more string) (h2, h2c string) {
	t.Helper()
	h2, h2c = s.port(t), s.port(t)
	s.write(t, "nginx.conf", fmt.Appendf(nil, `daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests %d; ssl_certificate cert.pem; ssl_certificate_key cert.pem;
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
  %s
  server { listen %s ssl http2; listen %s http2; location / { return 200 "hello, world\n"; } }
}
`, requests, more, h2, h2c))
	s.run(t, h2c, "nginx", "-p", s.dir, "-c", filepath.Join(s.dir, "nginx.conf"))
	return h2, h2c
}

// ran lets a closed loop run until enough requests were due.
func ran(t *testing.T, s *session, enough int64) Second {
	t.Helper()
	eventually(t, func() bool {
		var reply ControlReply
		if err := s.client.Control(t.Context(), Control{Phase: "load"}, &reply); err != nil {
			t.Fatal(err)
		}
		return reply.Due["load"] >= enough
	})
	return s.stop()
}

// TestNginxGoAway: nginx ends each connection after 1000 requests, which no request notices.
func TestNginxGoAway(t *testing.T) {
	site := newSite(t)
	h2, h2c := site.nginx(t, 1000, "")
	for _, spec := range []Spec{
		{Protocol: "h2c", Address: h2c, Connections: 2, Streams: 16},
		{Protocol: "h2", Scheme: "https", Address: h2, Connections: 4, Streams: 1},
		{Protocol: "h2", Scheme: "https", Address: h2, Connections: 2, Streams: 8, Method: "POST", Body: pattern(1000)},
	} {
		t.Run(fmt.Sprintf("%s %dx%d", spec.Protocol, spec.Connections, spec.Streams), func(t *testing.T) {
			spec.Reuse, spec.Expect = true, Expect{Status: 200, Bytes: size(13)}
			s, ready := begin(t, spec)
			if ready.StreamLimit != 128 || ready.Verified != 1 {
				t.Errorf("ready: %+v", ready)
			}
			c := ran(t, s, 5000).Counts
			if c.OK != c.Due || c.Goaways < c.Due/1000-int64(spec.Connections) || c.Goaways > c.Due/1000+1 || c.ReuseRetried != 0 {
				t.Errorf("goaways %d, retried %d, sent %d, opened %d, outcomes %s", c.Goaways, c.Retried, c.Sent, c.Opened, s.outcomes())
			}
			if c.Sent != c.OK+c.Retried || c.Opened > c.Goaways+int64(spec.Connections) {
				t.Errorf("goaways %d, retried %d, sent %d, opened %d", c.Goaways, c.Retried, c.Sent, c.Opened)
			}
		})
	}
}

// TestNginxLimit: the limit is nginx's own setting; a fixed pool stays below it, one that dials goes beside it.
func TestNginxLimit(t *testing.T) {
	site := newSite(t)
	_, h2c := site.nginx(t, 1_000_000, "http2_max_concurrent_streams 8;")
	for pool, opened := range map[string]int64{"fixed": 1, "dial": 3} {
		t.Run(pool, func(t *testing.T) {
			s, ready := begin(t, Spec{Protocol: "h2c", Address: h2c, Connections: 1, Streams: MaxStreams, InFlight: 24, Pool: pool, Reuse: true})
			c := ran(t, s, 2000).Counts
			if ready.StreamLimit != 8 || c.OK != c.Due || c.Opened != opened || c.Refused != 0 {
				t.Errorf("limit %d, opened %d, refused %d, outcomes %s", ready.StreamLimit, c.Opened, c.Refused, s.outcomes())
			}
		})
	}
}

// TestHAProxy is in front of planrun's own origin.
func TestHAProxy(t *testing.T) {
	o, err := origin.Start(origin.Spec{Name: "web-1", ServedBy: true, Listen: map[string]string{"http": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Stop(servetest.Over()) })
	site := newSite(t)
	h2, h2c := site.port(t), site.port(t)
	conf := site.write(t, "haproxy.cfg", fmt.Appendf(nil, `global
  maxconn 1000
  nbthread 1
  tune.h2.max-concurrent-streams 8
defaults
  mode http
  timeout connect 20s
  timeout client 20s
  timeout server 20s
frontend f
  bind %s ssl crt cert.pem alpn h2
  bind %s proto h2
  default_backend b
backend b
  server s %s
`, h2, h2c, o.Addresses()["http"]))
	site.run(t, h2c, "haproxy", "-db", "-f", conf)
	overHTTP2(t, h2, h2c, 8)
}

// TestOrigin: planrun's own origin has Go's HTTP/2.
func TestOrigin(t *testing.T) {
	o, err := origin.Start(origin.Spec{Name: "web-1", ServedBy: true, Listen: map[string]string{"https": "127.0.0.1:0", "h2c": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Stop(servetest.Over()) })
	overHTTP2(t, o.Addresses()["https"], o.Addresses()["h2c"], 1000)
}

// overHTTP2 asks a server, behind which planrun's origin is, for several things.
func overHTTP2(t *testing.T, h2, h2c string, limit int) {
	for _, tt := range []struct {
		name  string
		spec  Spec
		total int64
	}{
		{"small", Spec{Path: "/small", Expect: Expect{Bytes: size(13)}}, 400},
		{"large, by its hash", Spec{Path: "/bytes/1000000", Expect: Expect{Bytes: size(1_000_000), SHA256: sum256(servetest.Body(1_000_000))}}, 20},
		{"chunked", Spec{Path: "/chunked/100000", Expect: Expect{Bytes: size(100_000), SHA256: sum256(servetest.Body(100_000))}}, 100},
		{"many sizes", Spec{SpreadPath: "/bytes/{0..49}"}, 200},
		{"a status without a body", Spec{Path: "/status/204", Expect: Expect{Status: 204}}, 100},
		{"HEAD", Spec{Path: "/100k", Method: "HEAD", Expect: Expect{Bytes: size(0)}}, 100},
		{"an upload", Spec{Path: "/upload", Method: "POST", Body: pattern(300_000), Expect: Expect{Status: 200}}, 10},
	} {
		for _, protocol := range []string{"h2", "h2c"} {
			t.Run(tt.name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				spec := tt.spec
				spec.Protocol, spec.Address, spec.By, spec.Reuse = protocol, h2c, "X-Served-By", true
				if protocol == "h2" {
					spec.Scheme, spec.Address = "https", h2
				}
				spec.Connections, spec.Streams, spec.Timeout = 2, 12, 30*time.Second
				spec.Rate = []RateStep{{float64(tt.total) * 10, float64(tt.total) * 10, 100 * time.Millisecond}}
				s, ready := begin(t, spec)
				time.Sleep(110 * time.Millisecond)
				c := s.stop().Counts
				if ready.Problem != "" || ready.StreamLimit != limit || c.OK != tt.total || c.Due != tt.total || c.Sent != c.OK {
					t.Errorf("ready %+v, sent %d, outcomes %s", ready, c.Sent, s.outcomes())
				}
				if c.By["web-1"] != tt.total || c.Opened != 2 || c.Refused+c.Retried+c.ReuseRetried != 0 {
					t.Errorf("by %v, opened %d, refused %d, retried %d", c.By, c.Opened, c.Refused, c.Retried)
				}
			})
		}
	}
}

// TestH2TargetDies: whatever happens to the target, every request that was due has one outcome, and the load goes on when
// the target is back.
func TestH2TargetDies(t *testing.T) {
	serve := func(address string) (*http.Server, string) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		srv := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Millisecond)
			io.WriteString(w, "ok")
		})}
		go srv.Serve(l)
		return srv, l.Addr().String()
	}
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			srv, address := serve("127.0.0.1:0")
			s, _ := begin(t, Spec{Protocol: "h2c", Address: address, Method: method, Connections: 3, Streams: 10, Reuse: true, Rate: inOneSecond(1000)})
			time.Sleep(300 * time.Millisecond)
			srv.Close()
			time.Sleep(300 * time.Millisecond)
			if err := s.client.Control(t.Context(), Control{"back", 0}, nil); err != nil {
				t.Error(err)
			}
			srv, _ = serve(address)
			defer srv.Close()
			time.Sleep(600 * time.Millisecond)
			c := s.stop().Counts
			if c.Due != 1000 || c.Errors[Connect] == 0 || c.OK == 0 || c.Errors[Timeout]+c.Errors[Protocol] != 0 {
				t.Errorf("outcomes %s", s.outcomes())
			}
			for _, sec := range s.seconds {
				if sec.Phase == "back" && sec.Counts.Due > 0 && sec.Counts.OK == 0 {
					t.Errorf("second %d, after the target came back: %+v", sec.Second, sec.Counts)
				}
			}
			if !strings.Contains(strings.Join(s.examples, "\n"), "connection refused") {
				t.Errorf("examples %q", s.examples)
			}
		})
	}
}

func sum256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
