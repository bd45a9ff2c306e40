package load

import (
	"crypto/tls"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// handshakes counts those of a server, by what it saw of each.
type handshakes struct {
	mu     sync.Mutex
	texts  map[string]int64
	groups map[tls.CurveID]int
	names  map[string]int // that were asked for
	alpn   map[string]int
}

// watched has the handshakes of a server's connections noted.
func watched(c *tls.Config) *handshakes {
	h := &handshakes{texts: map[string]int64{}, groups: map[tls.CurveID]int{}, names: map[string]int{}, alpn: map[string]int{}}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.texts[sessionOf(&s).String()]++
		h.groups[s.CurveID]++
		h.names[s.ServerName]++
		h.alpn[s.NegotiatedProtocol]++
		return nil
	}
	return h
}

// fewHandshakes is a load with a new connection for each of its five requests.
func fewHandshakes(address string) Spec {
	return Spec{Scheme: "https", Address: address, Connections: 1, Timeout: 20 * time.Second, Rate: []RateStep{{500, 500, 10 * time.Millisecond}}}
}

// TestHandshakes: what the load says of its handshakes is what the server saw.
func TestHandshakes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  func(*tls.Config)
		change  func(*Spec)
		resumed int64
		group   tls.CurveID
		begins  string // of what is said of each
	}{
		{name: "not resumed", begins: "TLS 1.3 TLS_"},
		{name: "resumed", change: func(s *Spec) { s.Resume = true }, resumed: 5, begins: "TLS 1.3 TLS_"},
		{name: "1.2, not resumed", server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, begins: "TLS 1.2 TLS_ECDHE_ECDSA_WITH_"},
		{name: "1.2, resumed", server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, change: func(s *Spec) { s.Resume = true }, resumed: 5, begins: "TLS 1.2 TLS_ECDHE_ECDSA_WITH_"},
		{name: "no tickets", server: func(c *tls.Config) { c.SessionTicketsDisabled = true }, change: func(s *Spec) { s.Resume = true }, begins: "TLS 1.3"},
		{name: "X25519", change: groups("X25519"), group: tls.X25519, begins: "TLS 1.3"},
		{name: "P-256", change: groups("P-256"), group: tls.CurveP256, begins: "TLS 1.3"},
		{name: "P-384", change: groups("P-384"), group: tls.CurveP384, begins: "TLS 1.3"},
		{name: "P-521", change: groups("P-521"), group: tls.CurveP521, begins: "TLS 1.3"},
		{name: "X25519MLKEM768", change: groups("X25519MLKEM768"), group: tls.X25519MLKEM768, begins: "TLS 1.3"},
		{name: "the server asks for another group", server: func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP384} }, change: groups("X25519", "P-384"), group: tls.CurveP384, begins: "TLS 1.3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			secure := certified(t)
			if tt.server != nil {
				tt.server(secure)
			}
			h := watched(secure)
			server := play(t, "127.0.0.1:0", secure, 0, every(ok))
			spec := fewHandshakes(server.address)
			if tt.change != nil {
				tt.change(&spec)
			}
			s, ready := begin(t, spec)
			time.Sleep(10 * time.Millisecond)
			total := s.stop()
			c := total.Counts
			if ready.Verified != 1 || c.OK != 5 || c.Due != 5 || c.Opened != 6 || c.Handshakes != 6 || c.Resumed != tt.resumed || total.TLS.Count() != 6 {
				t.Errorf("%+v, opened %d, handshakes %d, resumed %d, recorded %d, outcomes %s", ready, c.Opened, c.Handshakes, c.Resumed, total.TLS.Count(), s.outcomes())
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if !maps.Equal(c.Sessions, h.texts) {
				t.Errorf("sessions %v, the server's %v", c.Sessions, h.texts)
			}
			for text := range c.Sessions {
				if !strings.HasPrefix(text, tt.begins) {
					t.Errorf("session %q, want %q", text, tt.begins)
				}
			}
			if tt.group != 0 && h.groups[tt.group] != 6 {
				t.Errorf("groups %v, want %v", h.groups, tt.group)
			}
		})
	}
}

// TestSessionText: sessions have the names that plans have for groups.
func TestSessionText(t *testing.T) {
	for _, tt := range []struct {
		group   tls.CurveID
		alpn    string
		resumed bool
		want    string
	}{
		{tls.CurveP256, "h2", false, "TLS 1.3 TLS_AES_128_GCM_SHA256 P-256 ALPN h2"},
		{tls.X25519MLKEM768, "", true, "TLS 1.3 TLS_AES_128_GCM_SHA256 X25519MLKEM768 resumed"},
		{0, "", false, "TLS 1.3 TLS_AES_128_GCM_SHA256"},
		{0x4242, "", false, "TLS 1.3 TLS_AES_128_GCM_SHA256 CurveID(16962)"}, // no plan can name it
	} {
		s := tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, CurveID: tt.group, NegotiatedProtocol: tt.alpn, DidResume: tt.resumed}
		if got := sessionOf(&s).String(); got != tt.want {
			t.Errorf("group %v: %q, want %q", tt.group, got, tt.want)
		}
	}
}

func groups(names ...string) func(*Spec) { return func(s *Spec) { s.TLSGroups = names } }

// TestNames: the address that is dialled, the name that TLS asks for and the Host header are three things.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ host, serverName, wantHost, wantName string }{
		{"", "", "127.0.0.1:", ""}, // an address is no server name
		{"www.example.org", "", "www.example.org", "www.example.org"},
		{"www.example.org:8443", "", "www.example.org:8443", "www.example.org"},
		{"www.example.org", "tls.example.org", "www.example.org", "tls.example.org"},
		{"", "tls.example.org", "127.0.0.1:", "tls.example.org"},
		{"www.example.org", "127.0.0.1", "www.example.org", ""},
	} {
		secure := certified(t)
		secure.NextProtos = []string{"h2", "http/1.1"}
		h := watched(secure)
		server := play(t, "127.0.0.1:0", secure, 0, every(ok))
		spec := fewHandshakes(server.address)
		spec.Host, spec.ServerName = tt.host, tt.serverName
		s, _ := begin(t, spec)
		if c := s.stop().Counts; c.OK != c.Due {
			t.Errorf("%+v: outcomes %s", tt, s.outcomes())
		}
		h.mu.Lock()
		if len(h.names) != 1 || h.names[tt.wantName] == 0 || len(h.alpn) != 1 || h.alpn["http/1.1"] == 0 {
			t.Errorf("%+v: the server was asked for %v and spoke %v", tt, h.names, h.alpn)
		}
		h.mu.Unlock()
		for _, r := range server.requests() {
			if !strings.Contains(r, "\r\nHost: "+tt.wantHost) {
				t.Errorf("%+v: the server saw %q", tt, r)
			}
		}
	}
}

// TestHandshakeFailures: what goes wrong in TLS is of class tls, with its reason, before and after the handshake.
func TestHandshakeFailures(t *testing.T) {
	for _, tt := range []struct {
		name      string
		server    func(*tls.Config)
		plain     func(*scene) // speaks no TLS
		script    func(*scene)
		says      string
		shakes    int64
		dialLimit time.Duration
	}{
		{name: "no TLS", plain: func(x *scene) { x.say(ok) }, says: "tls: first record does not look like a TLS handshake"},
		{name: "closed at once", plain: func(*scene) {}},
		{name: "closed", plain: func(x *scene) { x.in.ReadByte() }},
		{name: "half a record", plain: func(x *scene) { x.say("\x16\x03\x03\x01\x00abc") }},
		{name: "silent", plain: (*scene).silent, says: "no handshake within 50ms", dialLimit: 50 * time.Millisecond},
		{name: "silent within the handshake", plain: func(x *scene) {
			x.say("\x16\x03\x03\x01\x00abc")
			x.silent()
		}, says: "no handshake within 50ms", dialLimit: 50 * time.Millisecond},
		{name: "another version", server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11; c.MinVersion = tls.VersionTLS10 }, says: "protocol version"},
		{name: "another protocol", server: func(c *tls.Config) { c.NextProtos = []string{"foo"} }, says: "no application protocol"},
		{name: "another group", server: func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP521} }, says: "handshake failure"},
		{name: "certificate wanted, 1.2", server: func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 }, says: "tls: "},
		{name: "certificate wanted, 1.3", server: func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }, says: "certificate required", shakes: 6},
		{name: "no TLS any more", script: func(x *scene) {
			if x.request() {
				x.tcp.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
				x.tcp.Read(make([]byte, 1))
			}
		}, says: "tls: ", shakes: 6},
		{name: "a broken record", script: func(x *scene) {
			if x.request() {
				x.tcp.Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
				x.tcp.Read(make([]byte, 1))
			}
		}, says: "bad record MAC", shakes: 6},
	} {
		for _, wire := range wires(t) {
			t.Run(tt.name+"/"+wire, func(t *testing.T) {
				t.Parallel()
				secure, script := certified(t), tt.script
				if tt.server != nil {
					tt.server(secure)
				}
				if tt.plain != nil {
					secure, script = nil, tt.plain
				} else if script == nil {
					script = every(ok)
				}
				server := play(t, "127.0.0.1:0", secure, 0, script)
				spec := fewHandshakes(server.address)
				spec.DialTimeout, spec.Wire, spec.TLSGroups = tt.dialLimit, wire, []string{"X25519"}
				s, ready := begin(t, spec)
				if !strings.HasPrefix(ready.Problem, "tls: ") {
					t.Errorf("ready: %+v", ready)
				}
				time.Sleep(10 * time.Millisecond)
				c := s.stop().Counts
				if c.Due != 5 || c.Errors[TLS] != 5 || c.Handshakes != tt.shakes || c.Opened != 6 {
					t.Errorf("opened %d, handshakes %d, outcomes %s", c.Opened, c.Handshakes, s.outcomes())
				}
				if !strings.Contains(strings.Join(s.examples, "\n"), tt.says) {
					t.Errorf("examples %q, want one with %q", s.examples, tt.says)
				}
			})
		}
	}
}

// silent waits until the other side closes the connection, below TLS.
func (x *scene) silent() {
	b := make([]byte, 4096)
	for {
		if _, err := x.tcp.Read(b); err != nil {
			return
		}
	}
}

// TestAbandonedHandshakes: handshakes that never end leave nothing behind, whether they are given up when they take too long,
// at the end of the drain or without one.
func TestAbandonedHandshakes(t *testing.T) {
	for _, wire := range wires(t) {
		for name, tt := range map[string]struct {
			limit time.Duration
			drain bool
			class string
		}{
			"too long":        {20 * time.Millisecond, true, TLS},
			"drained":         {time.Hour, true, Timeout},
			"without a drain": {time.Hour, false, Timeout},
		} {
			t.Run(wire+"/"+name, func(t *testing.T) {
				servetest.CheckLeaks(t)
				secure := certified(t)
				server := play(t, "127.0.0.1:0", nil, 0, func(x *scene) {
					if x.number > 0 {
						x.silent()
						return
					}
					x.Conn = tls.Server(x.tcp, secure) // for the verification
					x.in.Reset(x.Conn)
					every(ok)(x)
				})
				spec := fewHandshakes(server.address)
				spec.Connections, spec.DialTimeout, spec.Timeout, spec.Wire = 20, tt.limit, 100*time.Millisecond, wire
				spec.Rate = []RateStep{{2000, 2000, 10 * time.Millisecond}}
				body, err := json.Marshal(spec)
				if err != nil {
					t.Fatal(err)
				}
				h := &handler{}
				if _, err := h.Configure(t.Context(), body); err != nil {
					t.Fatal(err)
				}
				if err := h.Start(); err != nil {
					t.Fatal(err)
				}
				servetest.Eventually(t, "20 dials", func() bool { return server.accepted.Load() == 21 })
				ctx := t.Context()
				if !tt.drain {
					ctx = servetest.Over()
				}
				if err := h.Stop(ctx); err != nil {
					t.Error(err)
				}
				total := sum(t, h.Sample().(*Sample).Seconds)
				if c := total.Counts; c.Due != 20 || c.Errors[tt.class] != 20 || c.Sent != 0 {
					t.Errorf("outcomes: %+v", c)
				}
			})
		}
	}
}
