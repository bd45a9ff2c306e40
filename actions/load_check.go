package actions

import (
	"encoding/hex"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// Check finds what the types do not. What depends on several keys is not asked of an entry of loads: the action that builds
// on it may write others.
func (l *Load) Check(c *dsl.Check) {
	l.checkWhere(c)
	l.checkRequest(c)
	l.checkHeaders(c)
	l.checkRate(c)
	if c.Has("connect-rate") && c.Known("connect-rate") && l.ConnectRate <= 0 {
		c.Errorf("connect-rate", "a rate of 0 opens no connection").Hint = "leave it out to open all at once"
	}
	if c.Has("read-rate") && c.Known("read-rate") && l.ReadRate < 1 {
		c.Errorf("read-rate", "below 1B/s nothing is read").Hint = "leave it out to read as fast as answers come"
	}
	l.checkSources(c)
	if !c.Entry() {
		l.checkProtocol(c)
		l.checkPool(c)
		l.checkPorts(c)
	}
}

// checkWhere is about where the requests go.
func (l *Load) checkWhere(c *dsl.Check) {
	if l.Endpoint != "" && l.URL != "" && l.Proxy == "" && !c.Entry() {
		c.Errorf("url", "a load has an endpoint or a url, not both; remove one")
	}
	if l.URL != "" {
		if u, err := url.Parse(l.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			c.Errorf("url", "%q is no http:// or https:// url", l.URL)
		} else if u.RequestURI() != "/" && l.Path != "/" && l.Path != "" {
			c.Errorf("path", "the url says %s already; remove one of them", u.RequestURI())
		}
	}
	if l.Proxy == "" || c.Entry() {
		return
	}
	switch {
	case l.URL == "" && c.Known("url"):
		c.Errorf("proxy", "nothing says what the proxy is asked for").Hint = "add url: http://HOST:PORT/PATH; the endpoint is then where the proxy listens"
	case l.Address != "":
		c.Errorf("address", "with a proxy the target's endpoint is what is dialled").Hint = "leave it out, or name another endpoint"
	case speaksTLS(l.endpoint()) && c.Known("endpoint"):
		c.Errorf("endpoint", "a forward proxy is spoken to without TLS; what is behind it may have TLS, in a tunnel").Hint = "name an endpoint of the proxy without TLS"
	case l.Protocol == "h2c":
		c.Errorf("protocol", "a forward proxy is asked in HTTP/1.1, or for a tunnel to an https url").Hint = "write h1, or h2 with an https url"
	}
}

var byHeader = regexp.MustCompile("^header\\(\\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\\s*\\)$")

// checkRequest is about what is sent and what is expected.
func (l *Load) checkRequest(c *dsl.Check) {
	if l.Path != "" && !strings.HasPrefix(l.Path, "/") {
		c.Errorf("path", "the path %q does not begin with /", l.Path)
	}
	for _, x := range []struct{ key, text string }{{"path", l.Path}, {"host", l.Host}} {
		if i := strings.IndexFunc(x.text, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
			c.Errorf(x.key, "%q holds a character that cannot stand in a request (%q)", x.text, x.text[i]).Hint = "leave it out, or write it as %20 in a path"
		}
	}
	switch {
	case strings.ContainsAny(l.Method, " \r\n\t") || l.Method == "":
		c.Errorf("method", "%q is no request method", l.Method)
	case l.Method == "CONNECT":
		c.Errorf("method", "a load cannot send CONNECT by itself").Hint = "proxy: target asks for a tunnel where the url is https"
	}
	if l.By != "" && !byHeader.MatchString(l.By) {
		c.Errorf("by", "%q does not say by what answers are counted", l.By).Hint = "write header(NAME), with the name of a response header"
	}
	if _, err := hex.DecodeString(l.Expect.SHA256); l.Expect.SHA256 != "" && (err != nil || len(l.Expect.SHA256) != 64) {
		c.Errorf("expect", "a SHA-256 has 64 hexadecimal digits")
	}
}

// Check finds patterns that are none.
func (s *Spread) Check(c *dsl.Check) {
	if c.Known("path") {
		if _, err := load.SpreadPaths(s.Path); err != nil {
			c.Errorf("path", "%v", err)
		}
	}
}

// Check finds groups that the workers do not know.
func (t *LoadTLS) Check(c *dsl.Check) {
	if !c.Known("groups") {
		return
	}
	known := load.TLSGroupNames()
	for i, g := range t.Groups {
		if !slices.Contains(known, g) {
			c.Errorf("groups", "no key exchange group is called %q", g).Hint = dsl.Suggest(g, known, "groups")
		} else if slices.Contains(t.Groups[:i], g) {
			c.Errorf("groups", "%s stands twice", g)
		}
	}
}

func (l *Load) checkHeaders(c *dsl.Check) {
	own := []string{"host", "connection", "keep-alive", "proxy-connection", "upgrade", "content-length", "transfer-encoding"}
	for _, h := range l.Headers {
		if strings.ContainsAny(h.Name+h.Val, "\r\n") || strings.ContainsAny(h.Name, " :") || h.Name == "" {
			c.Errorf("headers", "%q is no header", h.Name)
		}
		if slices.Contains(own, strings.ToLower(h.Name)) {
			c.Errorf("headers", "%s is the load's own header", h.Name).Hint = "host has a key of its own; the others follow from body, reuse and protocol"
		}
		if strings.EqualFold(h.Name, "expect") && (!strings.EqualFold(h.Val, "100-continue") || l.Body == "" || l.http2()) && !c.Entry() {
			c.Errorf("headers", "expect: a load waits for 100-continue before it sends a body, with HTTP/1.1, and for nothing else").Hint = "write expect: 100-continue and a body, or leave it out"
		}
	}
}

func (l *Load) checkRate(c *dsl.Check) {
	r := l.Rate
	if c.Has("rate") && c.Known("rate") && r.Constant == 0 && r.From == 0 && r.To == 0 && r.Steps == nil {
		c.Errorf("rate", "a rate of 0 sends nothing").Hint = "write a rate above 0, or none for a closed loop"
	}
	if forms := b2i(r.Constant != 0) + b2i(r.From != 0 || r.To != 0 || r.Over != 0) + b2i(r.Steps != nil); forms > 1 {
		c.Errorf("rate", "a rate is a number, a ramp {from, to, over} or steps, not several of them")
	}
	if (r.From != 0 || r.To != 0) != (r.Over != 0) {
		c.Errorf("rate", "a ramp wants from, to and over")
	}
}

func (l *Load) checkSources(c *dsl.Check) {
	if !c.Known("sources") {
		return
	}
	if _, err := l.prefixes(); err != nil {
		c.Errorf("sources", "%v", err).Hint = "all of 127.0.0.0/8 is this machine's; other addresses must be assigned to it"
	}
}

// checkProtocol holds the protocol against what the endpoint or the url speaks.
func (l *Load) checkProtocol(c *dsl.Check) {
	if !c.Known("protocol") || !c.Known("endpoint") || !c.Known("url") {
		return
	}
	where := "the endpoint " + l.endpoint()
	if l.URL != "" {
		where = "the url"
	}
	switch {
	case l.Protocol == "h2" && !l.tls():
		c.Errorf("protocol", "h2 is HTTP/2 over TLS, and %s is without TLS", where).Hint = "name an https endpoint or url, or write h2c: HTTP/2 without TLS"
	case l.Protocol == "h2c" && l.tls():
		c.Errorf("protocol", "h2c is HTTP/2 without TLS, and %s is with TLS", where).Hint = "write h2, or name an endpoint or url without TLS"
	case c.Has("tls") && !l.tls():
		c.Errorf("tls", "%s is without TLS", where).Hint = "leave it out, or name an https endpoint or url"
	}
}

// checkPool finds bounds that nothing could reach, and connections that there are not.
func (l *Load) checkPool(c *dsl.Check) {
	for _, key := range []string{"protocol", "connections", "streams", "in-flight", "pool", "reuse", "rate", "workers"} {
		if !c.Known(key) {
			return
		}
	}
	kept := l.Reuse != "none"
	switch {
	case l.Streams > 1 && !l.http2():
		c.Errorf("streams", "a connection of HTTP/1.1 has one request in flight").Hint = "write more connections, or protocol: h2 or h2c"
	case l.Streams > 1 && !kept:
		c.Errorf("streams", "with reuse: none a connection has one request").Hint = "write more connections"
	case !kept && l.Pool != "" && l.Pool != "fixed":
		c.Errorf("pool", "%s is about connections that are kept, and reuse: none keeps none", l.Pool).Hint = "leave out one of them"
	case !kept && c.Has("connect-rate"):
		c.Errorf("connect-rate", "with reuse: none connections are opened for their requests, none before the start").Hint = "bound them by the rate"
	case l.Workers > l.Connections:
		c.Errorf("workers", "%d workers cannot share %s", l.Workers, plural.Of(l.Connections, "connection")).Hint = "each worker has at least one: write more connections or fewer workers"
	case l.InFlight > 0 && l.Workers > l.InFlight:
		c.Errorf("in-flight", "%d workers cannot share %s in flight", l.Workers, plural.Of(l.InFlight, "request")).Hint = "each worker has at least one"
	case l.Pool == "dial" && l.InFlight == 0 && l.streams() == 1:
		c.Errorf("pool", "with one request on a connection no more are in flight than there are connections, so no other one is opened").Hint = "add in-flight: how many requests may be in flight in all"
	case l.Pool != "dial" && l.InFlight > l.Connections*l.streams():
		c.Errorf("in-flight", "%s with %s each have no more than %d requests in flight", plural.Of(l.Connections, "connection"), plural.Of(l.streams(), "stream"), l.Connections*l.streams()).Hint = "write more connections or streams, or pool: dial"
	}
}

// portsOfAddress is about how many source ports an address has for connections to one port: Linux's default range.
const portsOfAddress = 28_000

// checkPorts warns of more connections than the source addresses have ports.
func (l *Load) checkPorts(c *dsl.Check) {
	if !c.Known("connections") || !c.Known("sources") || !c.Known("in-flight") || !c.Known("streams") {
		return
	}
	prefixes, err := l.prefixes()
	if err != nil {
		return // checkSources says so
	}
	addresses := 0.0
	for _, p := range prefixes {
		addresses += math.Exp2(float64(p.Addr().BitLen() - p.Bits()))
	}
	addresses = max(1, addresses)
	if n := l.mostConnections(); float64(n) > addresses*portsOfAddress {
		c.Warnf("connections", "%d connections are more than the about %.0f ports of %s", n, addresses*portsOfAddress, plural.Of(int(addresses), "source address")).Hint = "name more sources, such as 127.0.0.0/8"
	}
}
