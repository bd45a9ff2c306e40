package load

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// A job is a Spec that was checked and prepared: defaults filled in, the request written out, the share of this worker.
type job struct {
	Spec
	schedule    schedule // empty for a closed loop
	connections int      // of this worker
	waiting     int      // bound on this worker's waiting requests
	request     []byte   // as it is sent
	head        bool     // the method is HEAD
	repeatable  bool     // the method is idempotent: RFC 9110, section 9.2.2
	tls         *tls.Config
	sha256      []byte
}

// wrong is an error about the specification.
func wrong(format string, args ...any) error {
	return &worker.Error{Class: "spec", Message: fmt.Sprintf(format, args...)}
}

// newJob checks a specification. What this form of the generator cannot do is an error, never left out.
func newJob(s Spec) (*job, error) {
	if s.Workers == 0 {
		s.Workers = 1
	}
	if s.Workers < 0 || s.Worker < 0 || s.Worker >= s.Workers {
		return nil, wrong("worker %d of %d", s.Worker, s.Workers)
	}
	switch s.Protocol {
	case "", "h1":
	case "h2", "h2c":
		return nil, wrong("protocol %s: this load generator speaks h1 only", s.Protocol)
	default:
		return nil, wrong("protocol %q: not one of h1, h2, h2c", s.Protocol)
	}
	if s.Proxy != "" {
		return nil, wrong("proxy %s: this load generator cannot send through a forward proxy", s.Proxy)
	}
	if s.Streams > 1 {
		return nil, wrong("streams %d: a connection of HTTP/1 has one request in flight", s.Streams)
	}
	if s.Scheme == "" {
		s.Scheme = "http"
	}
	if s.Scheme != "http" && s.Scheme != "https" {
		return nil, wrong("scheme %q: not one of http, https", s.Scheme)
	}
	if s.Scheme == "http" && s.ServerName != "" {
		return nil, wrong("server name %s without https", s.ServerName)
	}
	if _, port, err := net.SplitHostPort(s.Address); err != nil {
		return nil, wrong("address %q: not host:port: %v", s.Address, err)
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, wrong("address %q: no port number", s.Address)
	}
	if s.Connections < 1 {
		return nil, wrong("connections %d: at least 1", s.Connections)
	}
	if s.Timeout < 0 || s.DialTimeout < 0 || s.MaxWaiting < 0 || s.Streams < 0 {
		return nil, wrong("timeout, dial timeout, max waiting and streams are at least 0")
	}
	if s.Timeout == 0 {
		s.Timeout = 10 * time.Second
	}
	if s.DialTimeout == 0 {
		s.DialTimeout = 5 * time.Second
	}
	if s.MaxWaiting == 0 {
		s.MaxWaiting = 100_000
	}
	switch s.Pacing {
	case "":
		s.Pacing = "precise"
	case "precise", "economical", "busy":
	default:
		return nil, wrong("pacing %q: not one of precise, economical, busy", s.Pacing)
	}
	j := &job{Spec: s}
	var err error
	if j.schedule, err = newSchedule(s.Rate); err != nil {
		return nil, wrong("%v", err)
	}
	share := func(n int) int { // the first workers get the rest
		mine := n / s.Workers
		if s.Worker < n%s.Workers {
			mine++
		}
		return mine
	}
	if j.connections = share(s.Connections); j.connections == 0 {
		return nil, wrong("%d connections for %d workers: at least one each", s.Connections, s.Workers)
	}
	j.waiting = max(1, share(s.MaxWaiting))
	if s.Expect.SHA256 != "" {
		if j.sha256, err = hex.DecodeString(s.Expect.SHA256); err != nil || len(j.sha256) != 32 {
			return nil, wrong("expected sha256 %q: not 64 hexadecimal digits", s.Expect.SHA256)
		}
	}
	if e := s.Expect.Status; e != 0 && (e < 200 || e > 999) {
		return nil, wrong("expected status %d: not a final status", e)
	}
	if j.request, err = j.write(); err != nil {
		return nil, err
	}
	if s.Scheme == "https" {
		// Load goes only to what the plan starts or names, mostly with certificates of its own.
		j.tls = &tls.Config{
			ServerName: j.serverName(), InsecureSkipVerify: true, NextProtos: []string{"http/1.1"},
		}
	}
	return j, nil
}

// right tells whether the status is the expected one.
func (j *job) right(status int) bool {
	if j.Expect.Status != 0 {
		return status == j.Expect.Status
	}
	return status >= 200 && status <= 299
}

// write gives the bytes of the request.
func (j *job) write() ([]byte, error) {
	method, path, host := j.Method, j.Path, j.Host
	if method == "" {
		method = "GET"
	}
	if path == "" {
		path = "/"
	}
	if host == "" {
		host = j.Address
	}
	switch method {
	case "CONNECT":
		return nil, wrong("method CONNECT: this load generator cannot send it")
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		j.repeatable = true
	}
	j.head = method == "HEAD"
	if !token(method) {
		return nil, wrong("method %q", method)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }) || path[0] != '/' && path != "*" {
		return nil, wrong("path %q: it begins with / and has no spaces", path)
	}
	if !text([]byte(host)) || strings.ContainsAny(host, " \t") {
		return nil, wrong("host %q", host)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	for _, h := range j.Headers {
		switch {
		case !token(h.Name) || !text([]byte(h.Value)):
			return nil, wrong("header %q: %q", h.Name, h.Value)
		case strings.EqualFold(h.Name, "Host"):
			return nil, wrong("header Host: it is the field host")
		case strings.EqualFold(h.Name, "Content-Length"), strings.EqualFold(h.Name, "Transfer-Encoding"):
			return nil, wrong("header %s: it follows from the body", h.Name)
		case strings.EqualFold(h.Name, "Connection"):
			return nil, wrong("header Connection: it follows from reuse")
		case strings.EqualFold(h.Name, "Expect"), strings.EqualFold(h.Name, "Upgrade"):
			return nil, wrong("header %s: this load generator cannot wait for the answer to it", h.Name)
		}
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if !j.Reuse {
		b.WriteString("Connection: close\r\n")
	}
	if len(j.Body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(j.Body))
	}
	b.WriteString("\r\n")
	b.Write(j.Body)
	return b.Bytes(), nil
}

func token(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// serverName is what TLS asks for: the given one, else the host without its port; an address is not sent.
func (j *job) serverName() string {
	name := j.ServerName
	if name == "" {
		name = j.Host
		if name == "" {
			name = j.Address
		}
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return ""
	}
	return name
}
