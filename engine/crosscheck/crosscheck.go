// Package crosscheck says how other load generators are told to do what a load does, reads what they print, and says
// whether two of them disagree. It starts no process: the engine does.
//
// In order:
//
//  1. Find gives a generator by its name; Cannot says why it cannot do a load, in words.
//  2. Prepare gives its files, its command lines and how it measures.
//  3. Read makes figures of what it left in its directory.
//  4. Comparable says why figures cannot be held against a load's own; Above, whether the load's own are too high.
//
// All latencies are of the service: from the sending of a request to the end of its answer. That is what these programs
// measure, whether in a closed loop or at a rate, so it is what they are held against.
package crosscheck

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// A Job is what a generator is to do.
type Job struct {
	Spec   load.Spec     // as the load's workers were told
	Length time.Duration // in whole seconds, at least one: wrk knows no others
	CPUs   int           // that it may use
}

// A Plan is how a generator is run: in a directory of its own that holds Files. What a command prints goes to its Output
// there. Leftovers are files that are not worth keeping once they were read. Otherwise says why its
// latencies are of something else than those of the load, in words; "" if they are of the same.
type Plan struct {
	Files     map[string]string
	Commands  []Command // one after another; the first one sends
	Leftovers []string
	Method    string // how it measures and what it does otherwise than the load, in words

	Otherwise string
}

// A Command is a command line and the file that takes its standard output.
type Command struct {
	Args   []string
	Output string
}

// A Generator is another load generator.
type Generator struct {
	Name    string   // of its program
	Install string   // how it is installed, for a hint
	Version []string // the arguments that make it print its version; nil: Go wrote it into the program

	cannot func(s *load.Spec) string
	plan   func(j *Job) Plan
	read   func(dir fs.FS, expect load.Expect) (record.Figures, error)
}

// Generators are all that there are, sorted by name.
var Generators = []*Generator{fortio, h2load, vegeta, wrk}

// Find gives the generator of that name; nil if there is none.
func Find(name string) *Generator {
	for _, g := range Generators {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Names lists the generators.
func Names() (out []string) {
	for _, g := range Generators {
		out = append(out, g.Name)
	}
	return out
}

// Cannot says why the generator cannot do what a load does, in words that follow its name; "" if it can.
func (g *Generator) Cannot(s load.Spec) string {
	_, steady := steadyRate(s.Rate)
	streams, even := inFlight(&s)
	s.Streams = streams
	switch {
	case !steady:
		return "holds one rate, and that of the load changes"
	case s.Proxy != "":
		return "does not go through a forward proxy here"
	case s.SpreadPath != "":
		return "asks for one path, and that of the load varies"
	case s.Pool == "dial" || s.Pool == "distinct":
		return "keeps to its connections, and the load opens others"
	case !even:
		return "has as many requests in flight on each connection, and the load has not"
	case len(s.Sources) > 0:
		return "sends from one address, and the load from several"
	case s.ReadRate > 0:
		return "reads answers as fast as they come, and the load slower"
	}
	return g.cannot(&s)
}

// Prepare says how the generator is run. Cannot must have said nothing.
func (g *Generator) Prepare(j Job) Plan {
	if j.Spec.Method == "" {
		j.Spec.Method = "GET"
	}
	if j.Spec.Path == "" {
		j.Spec.Path = "/"
	}
	if j.Spec.Host == "" {
		j.Spec.Host = j.Spec.Address
	}
	if j.Spec.Timeout == 0 {
		j.Spec.Timeout = 10 * time.Second
	}
	streams, _ := inFlight(&j.Spec)
	j.Spec.Streams = min(streams, manyStreams)
	return g.plan(&j)
}

// manyStreams is how many requests a connection may have in flight where the load leaves it to the server.
const manyStreams = 1000

// inFlight is how many requests each connection may have in flight; not ok if they cannot all have as many.
func inFlight(s *load.Spec) (streams int, ok bool) {
	streams = max(1, s.Streams)
	if s.InFlight == 0 || s.Connections == 0 {
		return streams, true
	}
	return min(streams, s.InFlight/s.Connections), s.InFlight%s.Connections == 0 && s.InFlight/s.Connections <= streams
}

// one reads a generator's output from a single file.
func one(file string, parse func([]byte, load.Expect) (record.Figures, error)) func(fs.FS, load.Expect) (record.Figures, error) {
	return func(dir fs.FS, expect load.Expect) (record.Figures, error) {
		b, err := fs.ReadFile(dir, file)
		if err != nil {
			return record.Figures{}, err
		}
		return parse(b, expect)
	}
}

// Read makes figures of what the generator left in its directory. Answers count as ok as the load's own do by their
// status; nobody else looks at the body.
func (g *Generator) Read(dir fs.FS, expect load.Expect) (record.Figures, error) {
	f, err := g.read(dir, expect)
	if err != nil {
		return record.Figures{}, fmt.Errorf("reading what %s printed: %w", g.Name, err)
	}
	if err := defined(f); err != nil {
		return record.Figures{}, fmt.Errorf("reading what %s printed: %w", g.Name, err)
	}
	return f, nil
}

var errNoSense = errors.New("its figures make no sense")

// defined refuses what is no measurement: negative or infinite numbers, more failures than requests.
func defined(f record.Figures) error {
	for _, v := range []*float64{&f.ReqPerS, f.P50, f.P90, f.P99, f.P999} {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0) || *v < 0) {
			return errNoSense
		}
	}
	if f.Requests < 0 || f.Failed < 0 || f.Failed > f.Requests {
		return errNoSense
	}
	return nil
}

// steadyRate is the one rate of an open loop, in requests a second; 0 is a closed loop. Not ok: it changes.
func steadyRate(steps []load.RateStep) (rate float64, ok bool) {
	for i, s := range steps {
		if s.From != s.To && s.Over > 0 || i > 0 && s.To != rate {
			return 0, false
		}
		rate = s.To
	}
	return rate, true
}

// fits reports whether an answer's status is what is expected.
func fits(status int, expect load.Expect) bool {
	if expect.Status != 0 {
		return status == expect.Status
	}
	return status >= 200 && status < 300
}

// server is the host name of the requests without its port, the TLS server name as the load has it, and whether that is
// a name (not an address).
func server(s *load.Spec) (host, name string, named bool) {
	host = s.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if name = s.ServerName; name == "" {
		name = host
	}
	return host, name, net.ParseIP(name) == nil
}

// byName gives the URL of a load whose host is its server name with the port of its address, and the address, for
// generators that can be told where a name is. Without TLS, or where the name is an address, it is the address's own.
func byName(s *load.Spec) (url, ip string) {
	ip, port, err := net.SplitHostPort(s.Address)
	if _, name, named := server(s); err == nil && s.Scheme == "https" && named {
		return "https://" + net.JoinHostPort(name, port) + s.Path, ip
	}
	return scheme(s) + "://" + s.Address + s.Path, ""
}

func scheme(s *load.Spec) string {
	if s.Scheme == "" {
		return "http"
	}
	return s.Scheme
}

// threads is how many threads serve the connections: one a CPU, and not more than there are connections.
func threads(j *Job) int { return max(1, min(j.CPUs, j.Spec.Connections)) }

// twice names a header that stands more than once; "" if none does.
func twice(headers []load.Header) string {
	var seen []string
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		if slices.Contains(seen, name) {
			return h.Name
		}
		seen = append(seen, name)
	}
	return ""
}

// including is why latencies that begin with the opening of a connection cannot be held against others.
const including = "its latencies include connecting"

// fullHandshakes says that a generator resumes no TLS session where the load does for each request, after what else is said.
func fullHandshakes(s *load.Spec) string {
	if !s.Reuse && s.Scheme == "https" && s.Resume {
		return ", and each handshake is a full one"
	}
	return ""
}

func isH1(s *load.Spec) bool { return s.Protocol == "" || s.Protocol == "h1" }

// seconds prints whole seconds, rounded up.
func seconds(d time.Duration) string { return fmt.Sprintf("%ds", int(math.Ceil(d.Seconds()))) }
