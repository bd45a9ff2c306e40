package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// A peer is a load generator of others.
type peer struct {
	m      *machine
	kind   string // wrk, h2load, fortio
	binary string
}

func (p peer) name() string { return p.kind }

// run is the peer's whole life; start tells what of it was no request's.
func (p peer) run(r row, path string, d time.Duration) (run, error) {
	return p.do(p.args(r, path, d), d)
}

// start measures what the peer spends before its requests go round: a run whose requests are never answered, or for fortio,
// which cannot start without answers, one with the fewest that it makes. It is looked at for a second, so that a step of
// the CPU's clock is a hundredth of that.
func (p peer) start(r row) (run, error) {
	if p.kind == "fortio" {
		return p.do(fortio(r, p.url(r, r.path), "-n", strconv.Itoa(2*r.connections)), 0)
	}
	return p.do(p.args(r, "/stall", time.Second), 0)
}

func (p peer) url(r row, path string) string {
	scheme := "http://"
	if servers[r.at].tls {
		scheme = "https://"
	}
	return scheme + p.m.server.address[r.at] + path
}

// args are the peer's own way to say what the row says; one thread, as the worker has.
func (p peer) args(r row, path string, d time.Duration) []string {
	url, c, s := p.url(r, path), strconv.Itoa(r.connections), strconv.Itoa(int(d/time.Second))
	switch p.kind {
	case "wrk":
		args := []string{"-t1", "-c" + c, "-d" + s + "s", url}
		if r.fresh {
			args = append([]string{"-H", "Connection: close"}, args...)
		}
		return args
	case "h2load":
		args := []string{"-t1", "-c" + c, "-m" + strconv.Itoa(max(1, r.streams)), "-D" + s, url}
		if !servers[r.at].h2 {
			args = append([]string{"--h1"}, args...)
		}
		return args
	}
	return fortio(r, url, "-t", s+"s")
}

func fortio(r row, url string, more ...string) []string {
	return append([]string{"load", "-quiet", "-k", "-c", strconv.Itoa(r.connections), "-qps", strconv.Itoa(int(r.rate)), "-p", "50"}, append(more, url)...)
}

// do runs the peer. Without a duration what it says is not read: it is a start.
func (p peer) do(args []string, d time.Duration) (run, error) {
	cmd := exec.Command(p.binary, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	process, err := p.m.launch(cmd)
	if err != nil {
		return run{}, err
	}
	wait := d / 2
	if d == 0 {
		wait = time.Second
	}
	// One that has ended is found by what it says.
	if err := process.checked(wait); err != nil && d > 0 {
		process.kill()
		return run{}, fmt.Errorf("%w%s", err, tail(out.Bytes()))
	}
	hung := time.AfterFunc(d+time.Minute, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	if err := cmd.Wait(); err != nil {
		return run{}, fmt.Errorf("%s: %w%s", p.kind, err, tail(out.Bytes()))
	}
	result, err := process.over()
	if err != nil || d == 0 {
		return result, err
	}
	if result.Claimed, err = claims[p.kind](out.String()); err != nil {
		return result, fmt.Errorf("%s: %w%s", p.kind, err, tail(out.Bytes()))
	}
	return result, nil
}

// claims read how many requests a peer says it has made; that it made errors is an error.
var claims = map[string]func(out string) (int64, error){"wrk": claimedWrk, "h2load": claimedH2load, "fortio": claimedFortio}

var (
	wrkRequests    = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkErrors      = regexp.MustCompile(`Socket errors|Non-2xx`)
	h2loadRequests = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, 0 failed, 0 errored, 0 timeout`)
	h2loadStatus   = regexp.MustCompile(`(?m)^status codes: \d+ 2xx, 0 3xx, 0 4xx, 0 5xx`)
	h2loadErrors   = regexp.MustCompile(`(?m)^(requests|status codes): .*`)
	fortioRequests = regexp.MustCompile(`(?m)^All done (\d+) calls \(plus (\d+) warmup\)`)
	fortioStatus   = regexp.MustCompile(`(?m)^Code 200 : (\d+) \(100\.0 %\)`)
)

func claimedWrk(out string) (int64, error) {
	m := wrkRequests.FindStringSubmatch(out)
	if m == nil || wrkErrors.MatchString(out) {
		return 0, fmt.Errorf("it had errors")
	}
	return strconv.ParseInt(m[1], 10, 64)
}

func claimedH2load(out string) (int64, error) {
	// It counts the status of an answer when that begins, so there may be more of them than requests that are done.
	m := h2loadRequests.FindStringSubmatch(out)
	if m == nil || !h2loadStatus.MatchString(out) || m[1] != m[2] {
		return 0, fmt.Errorf("it had errors: %q", h2loadErrors.FindAllString(out, -1))
	}
	return strconv.ParseInt(m[1], 10, 64)
}

func claimedFortio(out string) (int64, error) {
	m, status := fortioRequests.FindStringSubmatch(out), fortioStatus.FindStringSubmatch(out)
	if m == nil || status == nil || m[1] != status[1] {
		return 0, fmt.Errorf("it had errors")
	}
	calls, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, err
	}
	warmup, err := strconv.ParseInt(m[2], 10, 64)
	return calls + warmup, err
}

const fortioVersion = "v1.63.0"

// find gives the program of a peer. Fortio is in no distribution: it is installed into the user's cache, once.
func find(kind string) (string, error) {
	if kind != "fortio" {
		return exec.LookPath(kind)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "planrun", "fortio-"+fortioVersion)
	binary := filepath.Join(dir, "fortio")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	cmd := exec.Command("go", "install", "fortio.org/fortio@"+fortioVersion)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("installing fortio %s: %w%s", fortioVersion, err, tail(out))
	}
	return binary, nil
}
