package crosscheck

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

var fortio = &Generator{
	Name: "fortio", Install: "go install fortio.org/fortio@v1.63.0",
	cannot: func(s *load.Spec) string {
		switch {
		case fortioConnections(s) > manyConnections:
			return fmt.Sprintf("has one request in flight on a connection, so it would need %d of them", fortioConnections(s))
		case !s.Reuse && !isH1(s):
			return "cannot open a connection for each request over HTTP/2"
		}
		return ""
	},
	plan: planFortio,
	read: one(fortioJSON, parseFortio),
}

// manyConnections is how many fortio may open where the load has several requests in flight on each of a few.
const manyConnections = 1000

// fortioConnections are as many as the load has requests in flight: fortio has one on each. Where the load leaves the
// number of streams to the server, there is no need of many.
func fortioConnections(s *load.Spec) int {
	if s.Streams > 1 && s.Streams < manyStreams {
		return s.Connections * s.Streams
	}
	return s.Connections
}

const fortioOutput, fortioJSON, fortioBody = "output.txt", "fortio.json", "body"

// planFortio asks for buckets of 10 us: the default of 1 ms says nothing about a local server.
func planFortio(j *Job) Plan {
	s := &j.Spec
	rate, _ := steadyRate(s.Rate)
	url, ip := byName(s)
	connections := fortioConnections(s)
	p := Plan{Files: map[string]string{}}
	args := []string{"fortio", "load", "-loglevel", "Critical", "-log-errors=false", "-allow-initial-errors", "-json", fortioJSON, "-r", "0.00001", "-p", "50,90,99,99.9", "-k",
		"-c", strconv.Itoa(connections), "-qps", strconv.FormatFloat(rate, 'f', -1, 64), "-t", seconds(j.Length), "-timeout", s.Timeout.String(), "-X", s.Method, "-H", "Host:" + s.Host}
	switch {
	case !isH1(s):
		args = append(args, "-h2", "-stdclient")
	case s.Method == "HEAD": // its own client waits for the body
		args = append(args, "-stdclient")
	}
	if rate > 0 {
		args = append(args, "-uniform") // else all of its threads send at the same moment
	}
	if !s.Reuse {
		args = append(args, "-keepalive=false")
	}
	if ip != "" {
		args = append(args, "-resolve", ip)
	} else if host, _, err := net.SplitHostPort(s.Address); err == nil && strings.Contains(host, ":") {
		args = append(args, "-resolve-ip-type", "ip6")
	}
	for _, h := range s.Headers {
		if strings.EqualFold(h.Name, "content-type") {
			args = append(args, "-content-type", h.Value)
		} else {
			args = append(args, "-H", h.Name+":"+h.Value)
		}
	}
	if len(s.Body) > 0 {
		p.Files[fortioBody] = string(s.Body)
		args = append(args, "-payload-file", fortioBody)
	}
	p.Commands = []Command{{append(args, url), fortioOutput}}
	p.Method = "Closed loop"
	if rate > 0 {
		p.Method = fmt.Sprintf("Each of its %d threads sends at its share of the rate, in turn, the next request when the last is answered", connections)
	}
	if !s.Reuse {
		p.Otherwise = including
		p.Method += ", connecting included" + fullHandshakes(s)
	}
	if connections != s.Connections {
		p.Method += fmt.Sprintf("; %d connections with one request in flight on each, where the load has %d on each of %d", connections, s.Streams, s.Connections)
	}
	p.Method += "; latencies from the send, failed requests included; percentiles are interpolated within buckets."
	return p
}

// parseFortio reads its JSON. Latencies are in seconds, the length of the run in nanoseconds; the code -1 is a request
// without an answer.
func parseFortio(b []byte, expect load.Expect) (f record.Figures, err error) {
	var x struct {
		ActualDuration    float64
		RetCodes          map[string]int64
		DurationHistogram struct {
			Count       int64
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return f, err
	}
	if x.ActualDuration <= 0 {
		return f, errNoSense
	}
	ok := int64(0)
	for code, n := range x.RetCodes {
		status, err := strconv.Atoi(code)
		if err != nil {
			return f, fmt.Errorf("its codes: %w", err)
		}
		if n < 0 {
			return f, errNoSense
		}
		if f.Requests += n; fits(status, expect) {
			ok += n
		}
	}
	f.Failed, f.ReqPerS = f.Requests-ok, float64(ok)/(x.ActualDuration/1e9)
	for _, p := range x.DurationHistogram.Percentiles {
		for at, to := range map[float64]**float64{50: &f.P50, 90: &f.P90, 99: &f.P99, 99.9: &f.P999} {
			if math.Abs(p.Percentile-at) < 1e-9 && x.DurationHistogram.Count > 0 {
				*to = ms(p.Value * 1e3)
			}
		}
	}
	return f, nil
}
