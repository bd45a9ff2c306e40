package crosscheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

var h2load = &Generator{
	Name: "h2load", Install: "apt-get install nghttp2-client", Version: []string{"--version"},
	cannot: func(s *load.Spec) string {
		host, name, named := server(s)
		switch {
		case !s.Reuse:
			return "cannot open a connection for each request"
		case s.Method == "HEAD" && isH1(s):
			return "does not know that HEAD is answered without a body"
		case s.Scheme == "https" && named && name != host:
			return "takes the TLS server name from the host, and the load has another one"
		}
		return ""
	},
	plan: planH2load,
	read: readH2load,
}

const h2loadOutput, h2loadLog, h2loadBody = "output.txt", "requests.log", "body"

// planH2load gives the host as the URL's, and the address beside it: a header would be a second one.
func planH2load(j *Job) Plan {
	s := &j.Spec
	p := Plan{Files: map[string]string{}, Leftovers: []string{h2loadLog}}
	args := []string{"h2load", "-D", seconds(j.Length), "-c", strconv.Itoa(s.Connections), "-t", strconv.Itoa(threads(j)), "-m", strconv.Itoa(max(1, s.Streams)),
		"--connect-to=" + s.Address, "--log-file=" + h2loadLog, "-H", ":method: " + s.Method}
	if isH1(s) {
		args = append(args, "--h1")
	}
	if len(s.TLSGroups) > 0 {
		args = append(args, "--groups="+strings.Join(s.TLSGroups, ":"))
	}
	p.Method = "Closed loop; percentiles of every request that was answered as expected."
	if rate, _ := steadyRate(s.Rate); rate > 0 {
		each := rate / float64(s.Connections)
		args = append(args, "--rps="+strconv.FormatFloat(each, 'f', -1, 64))
		p.Method = fmt.Sprintf("Each connection sends %s requests a second, all of them at about the same moment, so its latencies are of bursts; percentiles of every request that was answered as expected.", strconv.FormatFloat(each, 'g', 4, 64))
	}
	if !isH1(s) {
		p.Method += " A connection that the server ends (GOAWAY, nginx after 1000 requests as it comes) is not opened again: what it has in flight fails, and the rate, which is over the whole time, is too low."
	}
	for _, h := range s.Headers {
		args = append(args, "-H", h.Name+": "+h.Value)
	}
	if len(s.Body) > 0 {
		p.Files[h2loadBody] = string(s.Body)
		args = append(args, "-d", h2loadBody)
	}
	p.Commands = []Command{{append(args, scheme(s)+"://"+s.Host+s.Path), h2loadOutput}}
	return p
}

func readH2load(dir fs.FS, expect load.Expect) (record.Figures, error) {
	b, err := fs.ReadFile(dir, h2loadOutput)
	if err != nil {
		return record.Figures{}, err
	}
	log, err := dir.Open(h2loadLog)
	if err != nil {
		return record.Figures{}, err
	}
	defer log.Close()
	return parseH2load(string(b), log, expect)
}

var (
	h2loadFinished = regexp.MustCompile(`(?m)^finished in [0-9.]+(?:us|ms|s|m|h)?[^,]*, ([0-9.]+) req/s`)
	h2loadRequests = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, (\d+) done,`)
)

// parseH2load reads the summary, and the log with a line for each request: start (us since 1970), status or -1, duration
// (us), and perhaps more columns.
func parseH2load(text string, log io.Reader, expect load.Expect) (f record.Figures, err error) {
	finished, counts := h2loadFinished.FindStringSubmatch(text), h2loadRequests.FindStringSubmatch(text)
	if finished == nil || counts == nil {
		return f, errors.New("its summary is not there")
	}
	rate, err := strconv.ParseFloat(finished[1], 64)
	if err != nil {
		return f, fmt.Errorf("its rate: %w", err)
	}
	done, err := strconv.ParseInt(counts[1], 10, 64)
	if err != nil {
		return f, fmt.Errorf("its counts: %w", err)
	}
	lined, ok := int64(0), int64(0)
	var h hdr.Histogram
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 {
			return f, fmt.Errorf("its log: %q has no three columns", cut(lines.Text(), 80))
		}
		status, err1 := strconv.Atoi(fields[1])
		us, err2 := strconv.ParseInt(fields[2], 10, 40) // 12 days
		if err := errors.Join(err1, err2); err != nil {
			return f, fmt.Errorf("its log: %w", err)
		}
		lined++
		if fits(status, expect) {
			ok++
			h.Record(us * 1000)
		}
	}
	if err := lines.Err(); err != nil {
		return f, fmt.Errorf("its log: %w", err)
	}
	f.Requests = max(done, lined)
	f.Failed = f.Requests - ok
	if done > 0 {
		f.ReqPerS = rate * float64(ok) / float64(done)
	}
	if ok > 0 {
		at := func(q float64) *float64 { return ms(h.Quantile(q) / 1e6) }
		f.P50, f.P90, f.P99, f.P999 = at(0.5), at(0.9), at(0.99), at(0.999)
	}
	return f, nil
}

// cut is the beginning of a text.
func cut(s string, n int) string { return s[:min(n, len(s))] }
