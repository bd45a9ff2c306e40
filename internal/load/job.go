package load

import (
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

// A job is a Spec that was checked and prepared: defaults filled in, the requests written out, the share of this worker.
type job struct {
	Spec
	schedule    schedule // empty for a closed loop
	connections int      // of this worker
	streams     int      // in flight on a connection
	inFlight    int      // bound of this worker; a closed loop keeps as many in flight or waiting
	dials       bool     // another connection is opened when all are full
	waiting     int      // bound on this worker's waiting requests
	forms       []*form
	blocks      h2Blocks
	expects     bool   // 100 Continue
	repeatable  bool   // the method is idempotent: RFC 9110, section 9.2.2
	tunnel      []byte // CONNECT to a forward proxy, before anything else
	alpn        string // what TLS is to agree on
	tls         *tls.Config
	sha256      []byte
}

// wrong is an error about the specification.
func wrong(format string, args ...any) error {
	return &worker.Error{Class: "spec", Message: fmt.Sprintf(format, args...)}
}

// newJob checks a specification. What the generator cannot do is an error, never left out.
func newJob(s Spec) (*job, error) {
	if s.Workers == 0 {
		s.Workers = 1
	}
	if s.Workers < 0 || s.Worker < 0 || s.Worker >= s.Workers {
		return nil, wrong("worker %d of %d", s.Worker, s.Workers)
	}
	switch s.Protocol {
	case "":
		s.Protocol = "h1"
	case "h1", "h2", "h2c":
	default:
		return nil, wrong("protocol %q: not one of h1, h2, h2c", s.Protocol)
	}
	if s.Streams > 1 && s.Protocol == "h1" {
		return nil, wrong("streams %d: a connection of HTTP/1 has one request in flight", s.Streams)
	}
	if s.Scheme == "" {
		s.Scheme = "http"
	}
	if s.Scheme != "http" && s.Scheme != "https" {
		return nil, wrong("scheme %q: not one of http, https", s.Scheme)
	}
	if s.Protocol == "h2" && s.Scheme != "https" {
		return nil, wrong("protocol h2 without https: HTTP/2 without TLS is h2c")
	}
	if s.Protocol == "h2c" && s.Scheme != "http" {
		return nil, wrong("protocol h2c with https: HTTP/2 over TLS is h2")
	}
	if s.Scheme == "http" && s.ServerName != "" {
		return nil, wrong("server name %s without https", s.ServerName)
	}
	if err := checkAddress("address", s.Address); err != nil {
		return nil, err
	}
	if s.Proxy != "" {
		if err := checkAddress("proxy", s.Proxy); err != nil {
			return nil, err
		}
	}
	if s.Connections < 1 {
		return nil, wrong("connections %d: at least 1", s.Connections)
	}
	if s.Timeout < 0 || s.DialTimeout < 0 || s.MaxWaiting < 0 || s.Streams < 0 || s.InFlight < 0 || !(s.ConnectRate >= 0) || s.ReadRate < 0 {
		return nil, wrong("timeout, dial timeout, max waiting, streams, in flight, connect rate and read rate are at least 0")
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
	if err := j.room(share); err != nil {
		return nil, err
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
	if err := j.write(); err != nil {
		return nil, err
	}
	if j.Protocol != "h1" {
		j.encode()
	}
	if s.By != "" && !token(s.By) {
		return nil, wrong("by %q: not the name of a header", s.By)
	}
	if s.Proxy != "" && (s.Scheme == "https" || s.Protocol != "h1") {
		j.tunnel = fmt.Appendf(nil, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", s.Address)
	}
	if s.Scheme == "https" {
		if j.tls, err = j.secured(); err != nil {
			return nil, err
		}
	} else if s.Resume || len(s.TLSGroups) > 0 {
		return nil, wrong("resume and TLS groups without https")
	}
	return j, nil
}

func checkAddress(what, address string) error {
	if _, port, err := net.SplitHostPort(address); err != nil {
		return wrong("%s %q: not host:port: %v", what, address, err)
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return wrong("%s %q: no port number", what, address)
	}
	return nil
}

// room decides how many connections there are and how much may be in flight on them.
func (j *job) room(share func(int) int) error {
	total, streams := j.Connections, max(1, j.Streams)
	switch j.Pool {
	case "", "fixed":
		j.Pool = "fixed"
	case "dial":
		j.dials = true
	case "distinct": // a connection for each request in flight
		total, streams = total*streams, 1
	default:
		return wrong("pool %q: not one of fixed, dial, distinct", j.Pool)
	}
	if !j.Reuse {
		total, streams = total*streams, 1
	}
	if j.connections, j.streams = share(total), streams; j.connections == 0 {
		return wrong("%d connections for %d workers: at least one each", total, j.Workers)
	}
	j.inFlight = j.connections * streams
	if j.InFlight > 0 {
		if j.inFlight = share(j.InFlight); j.inFlight == 0 {
			return wrong("%d requests in flight for %d workers: at least one each", j.InFlight, j.Workers)
		}
	}
	return nil
}

// secured is how TLS is spoken. Load goes only to what the plan starts or names, mostly with certificates of its own, so they
// are not verified.
func (j *job) secured() (*tls.Config, error) {
	j.alpn = "http/1.1"
	if j.Protocol == "h2" {
		j.alpn = "h2"
	}
	c := &tls.Config{ServerName: j.serverName(), InsecureSkipVerify: true, NextProtos: []string{j.alpn}, SessionTicketsDisabled: !j.Resume}
	if j.Resume {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(max(64, j.connections))
	}
	for _, name := range j.TLSGroups {
		group, ok := groupID(name)
		if !ok {
			return nil, wrong("TLS group %q: not one of %s", name, strings.Join(TLSGroupNames(), ", "))
		}
		c.CurvePreferences = append(c.CurvePreferences, group)
	}
	return c, nil
}

// newProtocol makes what speaks HTTP on a connection.
func (j *job) newProtocol(c *conn) protocol {
	if j.Protocol == "h1" {
		return newH1(c)
	}
	return newH2(c)
}

// right tells whether the status is the expected one.
func (j *job) right(status int) bool {
	if j.Expect.Status != 0 {
		return status == j.Expect.Status
	}
	return status >= 200 && status <= 299
}

// serverName is what TLS asks for: the given one, else the host without its port; an address is not sent.
func (j *job) serverName() string {
	asked := name(j.Host)
	if j.ServerName != "" {
		asked = name(j.ServerName)
	}
	if _, err := netip.ParseAddr(asked); err == nil {
		return ""
	}
	return asked
}
