package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"time"

	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/worker"
)

// ours is the load worker, with all its recording on: a sample with its histograms each second, and at the end.
type ours struct {
	m       *machine
	binary  string // planrun
	profile string // file for a CPU profile: then it is this program that is the worker; none if empty
}

func (o ours) name() string { return "planrun" }

// run counts from the message that starts the load: what the process spent before it, on its own start, on opening the
// connections and on verifying an answer, is StartCPU; all after it is the requests', the last sample's encoding and the
// end of the process too.
func (o ours) run(r row, path string, d time.Duration) (run, error) {
	cmd := exec.Command(o.binary, "worker", "load")
	if o.profile != "" {
		self, err := os.Executable()
		if err != nil {
			return run{}, err
		}
		cmd = exec.Command(self)
		cmd.Env = append(os.Environ(), profileEnv+"="+o.profile)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return run{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return run{}, err
	}
	p, err := o.m.launch(cmd)
	if err != nil {
		return run{}, err
	}
	s := session{row: r, process: p}
	err = s.talk(func(opts worker.Options) (*worker.Client, error) { return worker.Dial(stdin, stdout, opts) }, r.spec(o.m.server.address[r.at], path, o.m.wire), d)
	if err != nil {
		p.kill()
		return run{}, fmt.Errorf("%w%s", err, tail(log.Bytes()))
	}
	if err := cmd.Wait(); err != nil {
		return run{}, fmt.Errorf("the worker: %w%s", err, tail(log.Bytes()))
	}
	return s.result()
}

// A session is what is said to and by one worker.
type session struct {
	row      row
	process  *process
	ready    load.Ready
	before   load.Sample // at the start
	requests int64       // at the start
	samples  []json.RawMessage
}

func (s *session) talk(dial func(worker.Options) (*worker.Client, error), spec load.Spec, d time.Duration) error {
	// Samples are read when all is over, so that reading them takes no time from nginx.
	c, err := dial(worker.Options{Kind: "load", OnSample: func(b json.RawMessage) { s.samples = append(s.samples, bytes.Clone(b)) }})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), d+time.Minute)
	defer cancel()
	if err := c.Configure(ctx, spec, &s.ready); err != nil {
		return err
	}
	for _, problem := range []string{s.ready.Problem, s.ready.Shortage, s.ready.Refused} {
		if problem != "" {
			return fmt.Errorf("the worker is not ready: %s", problem)
		}
	}
	if _, s.requests, err = s.process.m.server.counted(); err != nil {
		return err
	}
	if err := c.Sample(ctx, &s.before); err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	end := time.Now().Add(d)
	if err := s.process.checked(d / 2); err != nil {
		return err
	}
	time.Sleep(time.Until(end))
	return c.Stop(ctx)
}

// result reads the samples.
func (s *session) result() (run, error) {
	r, err := s.process.over()
	if err != nil {
		return r, err
	}
	r.StartCPU, r.StartRequests, r.Wire = s.before.Health.CPUSeconds, s.requests-s.process.requests, s.ready.Wire
	var due, ok int64
	var lag hdr.Histogram
	final := false
	for _, b := range s.samples {
		var sample load.Sample
		if err := json.Unmarshal(b, &sample); err != nil {
			return r, fmt.Errorf("reading a sample: %w", err)
		}
		final = final || sample.Final
		for _, sec := range sample.Seconds {
			due, ok = due+sec.Counts.Due, ok+sec.Counts.OK
			if sec.Lag != nil {
				if err := lag.Merge(sec.Lag); err != nil {
					return r, err
				}
			}
			if len(sec.Counts.Errors) > 0 || len(sec.Counts.Non2xx) > 0 || sec.Counts.Generator > 0 {
				return r, fmt.Errorf("requests that went wrong: %v, answers %v, of the generator %d; %q",
					sec.Counts.Errors, sec.Counts.Non2xx, sec.Counts.Generator, sample.Examples)
			}
		}
	}
	if !final || due != ok {
		return r, fmt.Errorf("%d requests were due and %d were answered, last sample seen: %v", due, ok, final)
	}
	r.Claimed, r.LagP50, r.LagP90 = ok+r.StartRequests, lag.Quantile(0.5), lag.Quantile(0.9)
	return r, nil
}

// tail is the end of a log, for an error.
func tail(log []byte) string {
	log = bytes.TrimSpace(log)
	if len(log) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s", log[max(0, len(log)-500):])
}

const profileEnv = "PLANRUN_BENCH_PROFILE"

// profiled is this program as a load worker that writes a CPU profile of its life.
func profiled(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return load.Main(os.Stdin, os.Stdout)
}
