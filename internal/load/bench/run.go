package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A run is what one client did: its whole process, on the client's CPU.
type run struct {
	Row    string `json:"row"`
	Round  int    `json:"round"`  // from 1
	Try    int    `json:"try"`    // from 1: how often the round was measured, with this time
	First  bool   `json:"first"`  // its side began the round
	Who    string `json:"who"`    // planrun or another program
	Theirs bool   `json:"theirs"` // it was the peer

	Requests    int64   `json:"requests"`    // as nginx counted them
	Claimed     int64   `json:"claimed"`     // as the client did, with those of its start and without those in flight at its end
	Connections int64   `json:"connections"` // as nginx counted them
	CPU         float64 `json:"cpu_s"`       // of the process from its beginning to its end, user and kernel, in seconds
	User        float64 `json:"user_s"`      // the part of it that is no kernel time
	Wall        float64 `json:"wall_s"`      // of the process
	Foreign     float64 `json:"foreign"`     // share of the wall time in which others had the client's CPU

	// What the client needed before its requests went round, which is no part of their cost.
	StartCPU      float64 `json:"start_cpu_s"`
	StartRequests int64   `json:"start_requests"`

	// How fast the CPU was, in pieces of a fixed work for each millisecond of its time.
	SpeedBefore float64 `json:"speed_before"`
	SpeedAfter  float64 `json:"speed_after"`
	Discarded   bool    `json:"discarded"` // the round was disturbed, and measured again

	// Of the worker only: send lag in ns, and what moved the bytes.
	LagP50 float64 `json:"lag_p50_ns,omitempty"`
	LagP90 float64 `json:"lag_p90_ns,omitempty"`
	Wire   string  `json:"wire,omitempty"`
}

// cost is the CPU time of a request, in seconds.
func (r run) cost() float64 { return (r.CPU - r.StartCPU) / float64(r.Requests-r.StartRequests) }

// wholeCost has the start of the process in it.
func (r run) wholeCost() float64 { return r.CPU / float64(r.Requests) }

// rate is requests a second of the process's life.
func (r run) rate() float64 { return float64(r.Requests) / r.Wall }

// A client makes requests of the kind that the row says to path, for as long as d.
type client interface {
	name() string
	run(r row, path string, d time.Duration) (run, error)
}

// A machine is the two CPUs, nginx on one of them.
type machine struct {
	server *server
	client *cpu
	wire   string // of the worker; its choice if empty
}

// A process is a client that runs.
type process struct {
	m           *machine
	cmd         *exec.Cmd
	began       time.Time
	worked      time.Duration
	connections int64
	requests    int64
}

// launch starts a client. Nothing in the environment tunes it.
func (m *machine) launch(cmd *exec.Cmd) (*process, error) {
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "GOTRACEBACK"}, name)
	})
	p := &process{m: m, cmd: cmd}
	var err error
	if p.connections, p.requests, err = m.server.counted(); err != nil {
		return nil, err
	}
	if p.worked, err = m.client.worked(); err != nil {
		return nil, err
	}
	p.began = time.Now()
	if err := m.client.start(cmd, unix.SIGKILL); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// checked checks the pinning after a while, when all threads are there.
func (p *process) checked(after time.Duration) error {
	time.Sleep(after)
	return p.m.client.holds(p.cmd.Process.Pid)
}

// kill ends the process, when its run has gone wrong.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// over gives what the process did, when it has ended.
func (p *process) over() (run, error) {
	r := run{Wall: time.Since(p.began).Seconds()}
	usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return r, fmt.Errorf("no resource usage of process %d", p.cmd.ProcessState.Pid())
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	r.CPU, r.User = cpu.Seconds(), time.Duration(usage.Utime.Nano()).Seconds()
	worked, err := p.m.client.worked()
	if err != nil {
		return r, err
	}
	r.Foreign = max(0, (worked-p.worked-cpu).Seconds()/r.Wall)
	connections, requests, err := p.m.server.counted()
	if err != nil {
		return r, err
	}
	r.Connections, r.Requests = connections-p.connections, requests-p.requests
	return r, nil
}

// same checks what a client claims, and what the row asks of a run of length d, against what nginx saw.
func (r run) same(of row, d time.Duration) error {
	if r.Claimed < 1 || r.Claimed > r.Requests || r.Claimed < r.Requests-of.inFlight() {
		return fmt.Errorf("it claims %d requests, and nginx had %d of it", r.Claimed, r.Requests)
	}
	// Wrk first tries whether it can connect at all.
	if want := int64(of.connections); !of.fresh && r.Connections != want && r.Connections != want+1 {
		return fmt.Errorf("it opened %d connections, not %d", r.Connections, want)
	}
	if of.fresh && r.Connections < r.Requests {
		return fmt.Errorf("it opened %d connections for %d requests", r.Connections, r.Requests)
	}
	if want := of.rate * d.Seconds(); float64(r.Requests) < 0.95*want {
		return fmt.Errorf("it did not keep its rate: %d requests instead of %.0f", r.Requests, want)
	}
	return nil
}
