package actions

import (
	"context"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/load"
)

var loadKind = kind("load", `Send HTTP requests. Its own worker processes keep the connections open from its start to its end and count what became of every request.
A load is a closed loop (a connection, or a stream of it, sends its next request when the last was answered) unless it has a rate; with a rate request k is due when the integral of the rate reaches k, and latency counts from then.`, func() *Load { return &Load{Headline: true} })

// Load is the spec of a load.
type Load struct {
	Use string `yaml:"use" uses:"loads" short:"true" doc:"an entry of loads that this one builds on"`

	Endpoint string      `yaml:"endpoint" doc:"where the requests go: an endpoint of the target, by name; http if neither it nor url is written. TLS is spoken to one whose name is https or ends in it. With proxy: where the target listens as a proxy"`
	URL      string      `yaml:"url" doc:"where the requests go instead: scheme://host:port/path; with proxy: what the proxy is asked for"`
	Proxy    string      `yaml:"proxy" enum:"target" doc:"target: the url is asked of the target as a forward proxy, in absolute form, or through a tunnel (CONNECT) if it is https"`
	Address  dsl.Address `yaml:"address" doc:"what is dialled, if it is not the endpoint or the url's host"`
	Host     string      `yaml:"host" doc:"the Host header or :authority; left out: the url's host, or the address"`
	Protocol string      `yaml:"protocol" enum:"h1|h2|h2c" default:"h1" doc:"h1: HTTP/1.1; h2: HTTP/2 over TLS; h2c: HTTP/2 without TLS, with prior knowledge"`
	TLS      LoadTLS     `yaml:"tls" doc:"how TLS is spoken"`

	Method  string          `yaml:"method" default:"GET" doc:"the request method"`
	Path    string          `yaml:"path" default:"/" doc:"the path with its query"`
	Headers dsl.Map[string] `yaml:"headers" keys:"any" doc:"further request headers"`
	Body    string          `yaml:"body" doc:"the request body"`
	Spread  Spread          `yaml:"spread" doc:"varies the requests"`
	By      string          `yaml:"by" doc:"counts answers by who gave them: header(NAME), the value of this response header; by(\"VALUE\") in expressions reads it"`
	Expect  LoadExpect      `yaml:"expect" doc:"what a right answer is; another one is a failure of the class mismatch or non_2xx. Left out: any 2xx"`

	Connections int          `yaml:"connections" min:"1" max:"1000000" default:"1" doc:"connections, of all workers together"`
	Streams     int          `yaml:"streams" min:"1" max:"65536" doc:"requests in flight on a connection, with HTTP/2. Left out: 1 in a closed loop or a distinct pool; in an open loop or with in-flight as many as the server allows"`
	InFlight    int          `yaml:"in-flight" min:"1" doc:"requests in flight in all, whatever the number of connections; left out: connections times streams"`
	Pool        string       `yaml:"pool" enum:"fixed|dial|distinct" default:"fixed" doc:"fixed: these connections are all, a request waits at the server's stream limit; dial: another connection is opened when all are at the limit, as long as in-flight allows; distinct: a connection for each request in flight"`
	Reuse       string       `yaml:"reuse" enum:"keep-alive|none" default:"keep-alive" doc:"none: a new connection for every request"`
	ConnectRate dsl.Rate     `yaml:"connect-rate" doc:"connections that are opened a second before the load begins, of all workers together; left out: all at once"`
	Rate        LoadRate     `yaml:"rate" doc:"open loop: requests a second; none or left out: a closed loop"`
	MaxWaiting  int          `yaml:"max-waiting" min:"1" default:"100000" doc:"requests that may be due and wait for a connection; those beyond are failures of the class dropped"`
	Timeout     dsl.Duration `yaml:"timeout" min:"1ms" default:"10s" doc:"from the sending of a request to the end of its answer; also how long the end of the load waits for what is in flight"`
	ReadRate    dsl.ByteRate `yaml:"read-rate" doc:"how fast answers are read, on each connection; left out: as fast as they come"`
	Sources     dsl.Strings  `yaml:"sources" doc:"addresses or networks (127.0.1.0/24) that connections come from in turn; each address has about 28,000 ports. They are loopback's or assigned to this machine"`
	Resolve     string       `yaml:"resolve" enum:"once" default:"once" doc:"when the host's name is looked up: once, at the start"`
	Workers     int          `yaml:"workers" min:"1" max:"256" default:"1" doc:"worker processes"`
	CPUs        dsl.CPUs     `yaml:"cpus" doc:"CPUs of the workers; left out: those of host.cpus.load"`
	Pacing      string       `yaml:"pacing" enum:"precise|economical|busy" doc:"how the due times of an open loop are kept: precise spins for the last microseconds, economical sleeps, busy polls. Left out: precise where the CPU is the generator's own, else economical"`
	Headline    bool         `yaml:"headline" default:"true" doc:"false takes it out of the headline figures; load(NAME) still reads it"`
	CrossCheck  dsl.Strings  `yaml:"cross-check" enum:"fortio|h2load|vegeta|wrk" doc:"other generators that do the same, one after another, when the phases of the run are over, each for as long as the load was measured (1 to 10 s). The report shows their figures beside the load's own, and a guard taints latencies if the load's own p50 is far above most of theirs"`
}

// LoadTLS says how TLS is spoken. The certificate is not verified: targets have self-signed ones.
type LoadTLS struct {
	ServerName string      `yaml:"server-name" doc:"the server name of the handshake; left out: the host without its port"`
	Resume     bool        `yaml:"resume" doc:"resume sessions: a new connection then makes a shorter handshake"`
	Groups     dsl.Strings `yaml:"groups" doc:"key exchange groups that are offered, of X25519, P-256, P-384, P-521, X25519MLKEM768; their order is Go's own. Left out: all that Go offers"`
}

// Spread varies requests from a table that is made once.
type Spread struct {
	Path string `yaml:"path" required:"true" doc:"a path with ranges, in place of the load's own: /item/{0..255}; each request takes the next of at most 65,536 paths"`
}

// LoadExpect is what a right answer is.
type LoadExpect struct {
	Status int       `yaml:"status" min:"100" max:"599" doc:"the status code; left out: any 2xx"`
	Bytes  *dsl.Size `yaml:"bytes" doc:"length of the body"`
	SHA256 string    `yaml:"sha256" doc:"SHA-256 of the body, hexadecimal"`
}

// LoadRate is a rate, a ramp, or steps.
type LoadRate struct {
	Constant dsl.Rate     `yaml:"constant" short:"true" words:"none=-1" min:"0" max:"1000000000" doc:"requests a second; none: a closed loop"`
	From     dsl.Rate     `yaml:"from" min:"0" max:"1000000000" doc:"rate at the beginning of a ramp"`
	To       dsl.Rate     `yaml:"to" min:"0" max:"1000000000" doc:"rate at its end, which then stays"`
	Over     dsl.Duration `yaml:"over" min:"1ms" doc:"how long the ramp takes"`
	Steps    []RateStep   `yaml:"steps" doc:"stretches one after another; the last one's rate stays"`
}

// RateStep is a stretch of constant rate.
type RateStep struct {
	Rate dsl.Rate     `yaml:"rate" required:"true" min:"0" max:"1000000000" doc:"requests a second"`
	For  dsl.Duration `yaml:"for" required:"true" min:"1ms" doc:"how long"`
}

// Lasting: a load goes on until its phase ends.
func (l *Load) Lasting() bool { return true }

// Declares says which endpoint it uses and what it takes of the machine.
func (l *Load) Declares() task.Declaration {
	n := l.mostConnections()
	d := task.Declaration{Needs: task.Needs{Connections: n, Descriptors: n, Ports: n}}
	if l.URL == "" || l.Proxy != "" {
		d.Uses = append(d.Uses, task.Use{Kind: "endpoint", Name: l.endpoint(), Field: "endpoint"})
	}
	return d
}

// RequestsWithin is how many requests are due within a time; 0 if that is not known, as in a closed loop.
func (l *Load) RequestsWithin(d time.Duration) float64 { return l.Rate.requests(d) }

// mostConnections is how many connections may be open at the same time; of a pool that dials, as far as the load says (a
// server that takes fewer streams makes it more).
func (l *Load) mostConnections() int {
	switch streams := l.streams(); l.Pool {
	case "dial":
		return max(l.Connections, (l.InFlight+streams-1)/streams)
	case "distinct": // one for each request in flight
		return l.Connections * streams
	}
	return l.Connections
}

func (l *Load) http2() bool { return l.Protocol == "h2" || l.Protocol == "h2c" }

// streams is how many requests a connection may have in flight; load.MaxStreams leaves it to the server.
func (l *Load) streams() int {
	switch {
	case l.Streams > 0:
		return l.Streams
	case l.http2() && l.Reuse != "none" && l.Pool != "distinct" && (l.InFlight > 0 || l.Rate.steps() != nil):
		return load.MaxStreams
	}
	return 1
}

// tls reports whether what is asked for speaks TLS.
func (l *Load) tls() bool {
	if l.URL != "" {
		return strings.HasPrefix(strings.ToLower(l.URL), "https:")
	}
	return speaksTLS(l.endpoint())
}

// speaksTLS reports whether an endpoint of this name speaks TLS.
func speaksTLS(endpoint string) bool { return strings.HasSuffix(endpoint, "https") }

func (l *Load) endpoint() string {
	if l.Endpoint == "" {
		return "http"
	}
	return l.Endpoint
}

// Reaches is the address that it is told to send to, and the key that says so; of an endpoint the target knows.
func (l *Load) Reaches() (field, address string) {
	if l.Address != "" {
		return "address", string(l.Address)
	}
	return "url", l.URL
}

// CountsAnswerers says whether it counts answers by who gave them.
func (l *Load) CountsAnswerers() bool { return l.By != "" }

// InHeadline says whether the headline figures count it.
func (l *Load) InHeadline() bool { return l.Headline }

// DefaultName is the name of the entry of loads that it builds on.
func (l *Load) DefaultName() string { return l.Use }

// Prepare resolves the address, checks that it may be sent to, and opens the connections.
func (l *Load) Prepare(ctx context.Context, env *task.Env) (any, error) {
	spec, err := l.spec(ctx, env)
	if err != nil {
		return nil, err
	}
	return env.Loads.Prepare(ctx, spec, task.LoadOptions{Name: env.Name, Workers: max(1, l.Workers), Headline: l.Headline, CPUs: l.CPUs, CrossCheck: l.CrossCheck})
}

// Run sends until ctx is done, and drains.
func (l *Load) Run(ctx context.Context, env *task.Env) error {
	return env.Prepared.(task.PreparedLoad).Run(ctx)
}
