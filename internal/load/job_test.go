package load

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// TestRefusals: what cannot be done is refused by the protocol with the class "spec", never left out.
func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		`protocol "h3"`:               func(s *Spec) { s.Protocol = "h3" },
		"streams 2":                   func(s *Spec) { s.Streams = 2 },
		`scheme "ftp"`:                func(s *Spec) { s.Scheme = "ftp" },
		"server name x without https": func(s *Spec) { s.ServerName = "x" },
		"not host:port":               func(s *Spec) { s.Address = "127.0.0.1" },
		"no port number":              func(s *Spec) { s.Address = "127.0.0.1:http" },
		"connections 0":               func(s *Spec) { s.Connections = 0 },
		"at least one each":           func(s *Spec) { s.Workers, s.Worker = 2, 1 },
		"worker 2 of 2":               func(s *Spec) { s.Workers, s.Worker = 2, 2 },
		"at least 0":                  func(s *Spec) { s.Timeout = -1 },
		`pacing "fast"`:               func(s *Spec) { s.Pacing = "fast" },
		"rate step 0":                 func(s *Spec) { s.Rate = []RateStep{{To: -1}} },
		"not 64 hexadecimal digits":   func(s *Spec) { s.Expect.SHA256 = "abc" },
		"expected status 100":         func(s *Spec) { s.Expect.Status = 100 },
		"method CONNECT":              func(s *Spec) { s.Method = "CONNECT" },
		`method "G ET"`:               func(s *Spec) { s.Method = "G ET" },
		`path "a b"`:                  func(s *Spec) { s.Path = "a b" },
		`path "/a\r\nB: c"`:           func(s *Spec) { s.Path = "/a\r\nB: c" },
		`host "a\r\nB: c"`:            func(s *Spec) { s.Host = "a\r\nB: c" },
		`header "A": "b\r\nC: d"`:     func(s *Spec) { s.Headers = []Header{{"A", "b\r\nC: d"}} },
		"header Host":                 func(s *Spec) { s.Headers = []Header{{"host", "a"}} },
		"header Content-Length":       func(s *Spec) { s.Headers = []Header{{"Content-Length", "1"}} },
		"header Connection: it follows from reuse": func(s *Spec) { s.Headers = []Header{{"Connection", "close"}} },
		"header Expect": func(s *Spec) { s.Headers = []Header{{"Expect", "100-continue"}} },
	} {
		spec := Spec{Address: "127.0.0.1:1", Connections: 1, Reuse: true}
		change(&spec)
		_, err := newJob(spec)
		e, ok := errors.AsType[*worker.Error](err)
		if !ok || e.Class != "spec" || !strings.Contains(e.Message, want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	s := dial(t)
	err := s.client.Configure(t.Context(), Spec{Address: "127.0.0.1:1", Connections: 1, Protocol: "h2"}, nil)
	if e, ok := errors.AsType[*worker.Error](err); !ok || e.Class != "spec" {
		t.Errorf("over the protocol: %v", err)
	}
	if err := s.client.Configure(t.Context(), "x", nil); err == nil {
		t.Error("a specification that is none was accepted")
	}
	if err := s.client.Stop(t.Context()); err != nil {
		t.Errorf("stopping a worker that was never configured: %v", err)
	}
}

func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		spec       Spec
		want       string
		serverName string
	}{
		{Spec{Address: "127.0.0.1:80", Reuse: true}, "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", ""},
		{Spec{Address: "[::1]:80"}, "GET / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", ""},
		{Spec{Address: "127.0.0.1:80", Host: "a.example:8080", Method: "HEAD", Path: "/x?y", Reuse: true, Headers: []Header{{"A", "b"}, {"A", "c"}}},
			"HEAD /x?y HTTP/1.1\r\nHost: a.example:8080\r\nA: b\r\nA: c\r\n\r\n", "a.example"},
		{Spec{Address: "127.0.0.1:80", Host: "a.example", ServerName: "b.example", Scheme: "https", Reuse: true}, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "b.example"},
		{Spec{Address: "localhost:80", Reuse: true, Method: "POST"}, "POST / HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: 0\r\n\r\n", "localhost"},
		{Spec{Address: "a:80", Reuse: true, Method: "PUT", Body: []byte("hi")}, "PUT / HTTP/1.1\r\nHost: a:80\r\nContent-Length: 2\r\n\r\nhi", "a"},
	} {
		tt.spec.Connections = 1
		j, err := newJob(tt.spec)
		if err != nil {
			t.Error(err)
			continue
		}
		if string(j.forms[0].whole) != tt.want || j.serverName() != tt.serverName {
			t.Errorf("request %q, server name %q; want %q, %q", j.forms[0].whole, j.serverName(), tt.want, tt.serverName)
		}
	}
}

// TestShares: the workers' connections add up to what was asked, the first ones having the rest.
func TestShares(t *testing.T) {
	var got []int
	for i := range 4 {
		j, err := newJob(Spec{Address: "a:1", Connections: 10, Workers: 4, Worker: i, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, j.connections)
	}
	if got[0] != 3 || got[1] != 3 || got[2] != 2 || got[3] != 2 {
		t.Errorf("shares %v", got)
	}
}
