// Bench compares the CPU time that the load worker needs for a request with that of the best other load generators. It is
// `make bench-load`; docs/benchmarks/load.md says how to read what it prints.
//
//  1. It builds planrun, and starts nginx with one process that works, pinned to one CPU. All clients are pinned to another
//     one; what this program does itself it does on nginx's. The pinning is checked in every run, of every thread.
//  2. Each row (rows.go) first shows that both clients do the same: nginx logs a second of either.
//  3. In each round the worker and the peer take turns, in an order that is its own reverse, and the ratio is formed within the
//     round. The median is the result. A round in which the machine was not as fast all the time is measured again.
//  4. The CPU time is that of the finished process, without its start: the worker's until it is told to start, the peer's
//     as measured in a run that is never answered. The requests are those that nginx counted.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// options are the command line's.
type options struct {
	rounds     int
	duration   time.Duration
	rows       string
	json       string
	profile    string
	binary     string
	cpus       string
	wire       string
	limits     limits
	reportOnly bool
	moonshot   bool
}

// Exit codes.
const (
	exitMet    = 0
	exitMissed = 1 // a target was missed, or a row with one was not run
	exitFailed = 2 // something could not be measured
)

func main() {
	if file := os.Getenv(profileEnv); file != "" {
		if err := profiled(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitFailed)
		}
		return
	}
	os.Exit(bench(os.Args[1:], os.Stdout, os.Stderr))
}

func parse(args []string, stderr io.Writer) (o options, chosen []row, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 5, "rounds of each row")
	f.DurationVar(&o.duration, "duration", 2*time.Second, "of a run: whole seconds")
	f.StringVar(&o.rows, "rows", "", "only the rows whose SCENARIO/PEER matches this regular expression; also those that otherwise do not run")
	f.StringVar(&o.json, "json", "", "write every run to this file, as JSON lines")
	f.StringVar(&o.profile, "cpuprofile", "", "after the rounds of a row write a CPU profile of one more run of the worker into this directory")
	f.StringVar(&o.binary, "planrun", "", "the planrun to measure, instead of one that is built for it")
	f.StringVar(&o.cpus, "cpus", "", "CPU of nginx and CPU of the clients; the first two that this process may use if empty")
	f.StringVar(&o.wire, "wire", "", "what moves the worker's bytes: io_uring, epoll, goroutines; its own choice if empty")
	f.Float64Var(&o.limits.apart, "apart", 0.1, "by which part the host's speed may change in a round that is not measured again")
	f.Float64Var(&o.limits.foreign, "foreign", 0.1, "which share of the clients' CPU others may have in a run of a round that is not measured again")
	f.IntVar(&o.limits.again, "again", 5, "how many rounds of a row may be measured again")
	f.BoolVar(&o.reportOnly, "report-only", false, "exit with status 0 although a target is missed")
	f.BoolVar(&o.moonshot, "moonshot", false, "print the moonshot beside the target")
	if err = f.Parse(args); err != nil {
		return o, nil, err
	}
	if f.NArg() > 0 {
		return o, nil, fmt.Errorf("what is %q?", f.Arg(0))
	}
	if o.rounds < 1 || o.duration < time.Second || o.duration%time.Second != 0 {
		return o, nil, errors.New("at least one round, and whole seconds, because the peers know no others")
	}
	if o.limits.apart < 0 || o.limits.foreign < 0 || o.limits.again < 0 {
		return o, nil, errors.New("-apart, -foreign and -again are not negative")
	}
	match, err := regexp.Compile(o.rows)
	if err != nil {
		return o, nil, err
	}
	for _, r := range rows {
		if o.rows == "" && !r.extra || o.rows != "" && match.MatchString(r.label()) {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return o, nil, fmt.Errorf("no row matches %q", o.rows)
	}
	return o, chosen, nil
}

func bench(args []string, stdout, stderr io.Writer) int {
	o, chosen, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitMet
	}
	code := exitFailed
	if err == nil {
		code, err = measure(o, chosen, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
	}
	return code
}

// measure runs the rows and prints their lines as they come.
func measure(o options, chosen []row, stdout io.Writer) (code int, err error) {
	dir, err := os.MkdirTemp("", "planrun-bench-")
	if err != nil {
		return exitFailed, err
	}
	defer os.RemoveAll(dir)
	if o.binary == "" {
		o.binary = filepath.Join(dir, "planrun")
		if out, err := exec.Command("go", "build", "-o", o.binary, "github.com/planrun/planrun/cmd/planrun").CombinedOutput(); err != nil {
			return exitFailed, fmt.Errorf("building planrun: %w%s", err, tail(out))
		}
	}
	raw := io.Discard
	if o.json != "" {
		f, err := os.Create(o.json)
		if err != nil {
			return exitFailed, err
		}
		defer f.Close()
		raw = f
	}
	if o.profile != "" {
		if err := os.MkdirAll(o.profile, 0o755); err != nil {
			return exitFailed, err
		}
	}
	m, err := newMachine(o, dir)
	if err != nil {
		return exitFailed, err
	}
	defer m.server.close()
	defer onSignal(func() { m.server.close(); os.RemoveAll(dir) })()
	worst := met
	for _, r := range chosen {
		res := m.compare(r, o)
		lines, v := res.lines(o.moonshot)
		fmt.Fprintln(stdout, strings.Join(lines, "\n"))
		worst = max(worst, v)
		if err := res.write(raw); err != nil {
			return exitFailed, err
		}
		if o.profile != "" && r.mine == "" && res.absent == nil {
			file := filepath.Join(o.profile, strings.ReplaceAll(r.label(), "/", "-")+".pprof")
			if _, err := (ours{m, o.binary, file}).run(r, r.path, max(o.duration, 5*time.Second)); err != nil {
				return exitFailed, fmt.Errorf("profiling %s: %w", r.label(), err)
			}
		}
	}
	switch {
	case worst == invalid:
		return exitFailed, nil
	case worst != met && !o.reportOnly:
		return exitMissed, nil
	}
	return exitMet, nil
}

// newMachine divides the CPUs and starts nginx.
func newMachine(o options, dir string) (*machine, error) {
	ids, err := allowed()
	if err != nil {
		return nil, err
	}
	if o.cpus != "" {
		ids = nil
		for word := range strings.SplitSeq(o.cpus, ",") {
			id, err := strconv.Atoi(word)
			if err != nil {
				return nil, fmt.Errorf("-cpus %s: not two numbers", o.cpus)
			}
			ids = append(ids, id)
		}
	}
	if len(ids) < 2 {
		return nil, fmt.Errorf("nginx and the clients need a CPU each, and there is %v", ids)
	}
	if err := withdraw(ids[0]); err != nil {
		return nil, fmt.Errorf("moving this process to CPU %d: %w", ids[0], err)
	}
	m := &machine{wire: o.wire}
	servers, err := newCPU(ids[0])
	if err != nil {
		return nil, err
	}
	if m.client, err = newCPU(ids[1]); err != nil {
		return nil, err
	}
	m.server, err = newServer(servers, dir)
	return m, err
}

// onSignal calls f and ends the process when a signal asks for it; the result ends that.
func onSignal(f func()) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, unix.SIGTERM)
	go func() {
		if s, ok := <-c; ok {
			f()
			os.Exit(128 + int(s.(unix.Signal)))
		}
	}()
	return func() { signal.Stop(c); close(c) }
}
