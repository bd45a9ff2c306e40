package crosscheck

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

var vegeta = &Generator{
	Name: "vegeta", Install: "go install github.com/tsenart/vegeta/v12@v12.13.0",
	cannot: func(s *load.Spec) string {
		switch {
		case isH1(s):
			return ""
		case s.Connections > 1:
			return "has one connection with HTTP/2"
		case !s.Reuse:
			return "cannot open a connection for each request over HTTP/2"
		}
		return ""
	},
	plan: planVegeta,
	read: one(vegetaReport, parseVegeta),
}

const vegetaTargets, vegetaOutput, vegetaResults, vegetaReport = "targets.json", "output.txt", "results.bin", "report.json"

// planVegeta bounds its workers by what the load may have in flight, so that no request waits for a connection within its
// latency. Without a rate, these workers are a closed loop.
func planVegeta(j *Job) Plan {
	s := &j.Spec
	rate, _ := steadyRate(s.Rate)
	url, ip := byName(s)
	connections, workers := strconv.Itoa(s.Connections), strconv.Itoa(s.Connections*max(1, s.Streams))
	args := []string{"vegeta", "attack", "-format", "json", "-targets", vegetaTargets, "-output", vegetaResults, "-rate", vegetaRate(rate), "-duration", seconds(j.Length),
		"-connections", connections, "-max-connections", connections, "-workers", workers, "-max-workers", workers,
		"-timeout", s.Timeout.String(), "-insecure", "-redirects", "-1", "-max-body", "0"}
	switch {
	case s.Protocol == "h2c":
		args = append(args, "-h2c")
	case isH1(s):
		args = append(args, "-http2=false")
	}
	if !s.Reuse {
		args = append(args, "-keepalive=false")
	}
	if ip != "" {
		_, port, _ := net.SplitHostPort(s.Address)
		_, name, _ := server(s)
		args = append(args, "-connect-to", net.JoinHostPort(name, port)+":"+s.Address)
	}
	headers := map[string][]string{"Host": {s.Host}}
	for _, h := range s.Headers {
		headers[h.Name] = append(headers[h.Name], h.Value)
	}
	if !slices.ContainsFunc(s.Headers, func(h load.Header) bool { return strings.EqualFold(h.Name, "accept-encoding") }) {
		headers["Accept-Encoding"] = []string{"identity"} // it would ask for gzip
	}
	target, _ := json.Marshal(struct { // of texts and bytes, which are always encoded
		Method string              `json:"method"`
		URL    string              `json:"url"`
		Body   []byte              `json:"body,omitempty"`
		Header map[string][]string `json:"header"`
	}{s.Method, url, s.Body, headers})
	method := "Closed loop of its workers"
	if rate > 0 {
		method = "Sends at the rate while one of its workers is free"
	}
	if !s.Reuse {
		method += ", connecting included" + fullHandshakes(s)
	}
	otherwise := ""
	if !s.Reuse {
		otherwise = including
	}
	return Plan{
		Otherwise: otherwise,
		Files:     map[string]string{vegetaTargets: string(target) + "\n"},
		Commands: []Command{{args, vegetaOutput},
			{[]string{"vegeta", "report", "-type", "json", "-output", vegetaReport, vegetaResults}, vegetaOutput + ".report"}},
		Leftovers: []string{vegetaResults, vegetaOutput + ".report"},
		Method:    method + "; latency from when a worker takes the request, through Go's HTTP client, failed requests included; percentiles are estimated.",
	}
}

// vegetaRate says a rate as whole requests in a time: 2.5 a second is 2500 in 1000 s. 0 is as fast as it can.
func vegetaRate(rate float64) string {
	if rate == math.Trunc(rate) {
		return strconv.FormatFloat(rate, 'f', 0, 64) + "/1s"
	}
	return strconv.FormatFloat(math.Max(1, math.Round(rate*1000)), 'f', 0, 64) + "/1000s"
}

// parseVegeta reads its report. Times are in nanoseconds; wait is between the last request and its answer; the status 0
// is a request without an answer.
func parseVegeta(b []byte, expect load.Expect) (f record.Figures, err error) {
	var x struct {
		Latencies struct {
			P50 float64 `json:"50th"`
			P90 float64 `json:"90th"`
			P99 float64 `json:"99th"`
		}
		Duration, Wait float64
		Requests       int64
		StatusCodes    map[string]int64 `json:"status_codes"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return f, err
	}
	ok := int64(0)
	for code, n := range x.StatusCodes {
		status, err := strconv.Atoi(code)
		if err != nil {
			return f, fmt.Errorf("its codes: %w", err)
		}
		if n < 0 {
			return f, errNoSense
		}
		if fits(status, expect) {
			ok += n
		}
	}
	f.Requests, f.Failed = x.Requests, x.Requests-ok
	if took := x.Duration + x.Wait; took > 0 {
		f.ReqPerS = float64(ok) / (took / 1e9)
	}
	if x.Requests > 0 {
		f.P50, f.P90, f.P99 = ms(x.Latencies.P50/1e6), ms(x.Latencies.P90/1e6), ms(x.Latencies.P99/1e6)
	}
	return f, nil
}
