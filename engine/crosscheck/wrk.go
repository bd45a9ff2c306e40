package crosscheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

var wrk = &Generator{
	Name: "wrk", Install: "apt-get install wrk", Version: []string{"-v"},
	cannot: func(s *load.Spec) string {
		rate, _ := steadyRate(s.Rate)
		switch {
		case !isH1(s):
			return "speaks HTTP/1.1 only"
		case rate > 0:
			return "is a closed loop, and the load has a rate"
		case s.Method == "HEAD":
			return "does not know that HEAD is answered without a body"
		case twice(s.Headers) != "":
			return "sends a header once, and the load sends " + twice(s.Headers) + " several times"
		}
		return ""
	},
	plan: planWrk,
	read: one(wrkOutput, parseWrk),
}

const wrkOutput, wrkScript = "output.txt", "wrk.lua"

// wrkMark begins the line that the script prints.
const wrkMark = "planrun: "

func planWrk(j *Job) Plan {
	s := &j.Spec
	args := []string{"wrk", "-t", strconv.Itoa(threads(j)), "-c", strconv.Itoa(s.Connections), "-d", seconds(j.Length), "--timeout", seconds(s.Timeout), "-s", wrkScript, scheme(s) + "://" + s.Address + s.Path}
	var b strings.Builder
	fmt.Fprintf(&b, "wrk.method = %s\n", luaText(s.Method))
	if len(s.Body) > 0 {
		fmt.Fprintf(&b, "wrk.body = %s\n", luaText(string(s.Body)))
	}
	header := func(name, value string) { fmt.Fprintf(&b, "wrk.headers[%s] = %s\n", luaText(name), luaText(value)) }
	header("Host", s.Host)
	for _, h := range s.Headers {
		header(h.Name, h.Value)
	}
	if !s.Reuse {
		header("Connection", "close")
	}
	b.WriteString(`
function done(summary, latency, requests)
	local e = summary.errors
	io.write(string.format(
		'` + wrkMark + `{"us":%d,"requests":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,"p50":%d,"p90":%d,"p99":%d,"p999":%d}\n',
		summary.duration, summary.requests, e.connect, e.read, e.write, e.status, e.timeout,
		latency:percentile(50), latency:percentile(90), latency:percentile(99), latency:percentile(99.9)))
end
`)
	method := "Closed loop. It adds to its high percentiles what it takes to have been omitted, and counts failed answers among its latencies; any status below 400 is right to it."
	if _, name, named := server(s); s.Scheme == "https" && named {
		method += fmt.Sprintf(" It connects by address, so %s is no server name of its TLS.", name)
	}
	otherwise := ""
	if fullHandshakes(s) != "" {
		otherwise = "its full handshakes, which are no part of its latencies, take the target's time"
	}
	if !s.Reuse {
		method += " Its latencies leave out connecting" + fullHandshakes(s) + "."
	}
	return Plan{Files: map[string]string{wrkScript: b.String()}, Commands: []Command{{args, wrkOutput}}, Method: method, Otherwise: otherwise}
}

// luaText quotes a text for Lua, whatever bytes it has.
func luaText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03d`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// parseWrk reads the line of the script. Latencies are in microseconds.
func parseWrk(b []byte, expect load.Expect) (f record.Figures, err error) {
	_, line, ok := strings.Cut(string(b), wrkMark)
	if !ok {
		return f, errors.New("its script printed nothing")
	}
	line, _, _ = strings.Cut(line, "\n")
	var x struct {
		US                                              int64
		Requests, Connect, Read, Write, Status, Timeout int64
		P50, P90, P99, P999                             float64
	}
	if err := json.Unmarshal([]byte(line), &x); err != nil {
		return f, err
	}
	if x.US <= 0 || min(x.Requests, x.Connect, x.Read, x.Write, x.Status, x.Timeout) < 0 {
		return f, errNoSense
	}
	broken := x.Connect + x.Read + x.Write + x.Timeout
	if expect.Status >= 400 { // it takes the right answers for errors
		x.Status = 0
	}
	f.Requests, f.Failed = x.Requests+broken, x.Status+broken
	f.ReqPerS = float64(x.Requests-x.Status) / (float64(x.US) / 1e6)
	if x.Requests > 0 {
		f.P50, f.P90, f.P99, f.P999 = ms(x.P50/1e3), ms(x.P90/1e3), ms(x.P99/1e3), ms(x.P999/1e3)
	}
	return f, nil
}

func ms(v float64) *float64 { return &v }
