package sized

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

const (
	cpus        = 4
	connections = 16
)

// phasesOf are a warm-up, the headline, and a phase after it.
func phasesOf(seconds int) []record.Phase {
	warm := float64(max(1, seconds/20))
	after := float64(seconds) - warm
	return []record.Phase{
		{Name: "warm-up", Kind: "warm-up", End: warm},
		{Name: "measure", Kind: "measure", Start: warm, End: after, Recorded: true, Headline: true},
		{Name: "after", Kind: "load", Start: after, End: float64(seconds), Recorded: true},
	}
}

// A process of every run, and the share of a CPU that it uses.
var processes = []struct {
	record.Process
	replicas int
	cores    float64
	threads  int
	mib      float64
}{
	{record.Process{Name: "proxy", Role: "sut", Command: []string{"proxy"}}, 1, 0.6, 4, 60},
	{record.Process{Name: "web", Role: "backends", Command: []string{"planrun", "worker", "origin"}}, 4, 0.05, 2, 25},
	{record.Process{Name: "main", Role: "load", Command: []string{"planrun", "worker", "load"}}, 1, 0.3, 3, 40},
	{record.Process{Name: "planrun", Role: "control"}, 1, 0.02, 0, 50},
}

// hostSeries are those that the host's probe samples.
var hostSeries = []series.SeriesDesc{
	{Name: "cpu_busy", Unit: "cores", Shape: series.Gauge, Class: series.Timing, Doc: "share of one CPU that was not idle; its label is cpuN"},
	{Name: "foreign_cpu", Unit: "cores", Shape: series.Gauge, Class: series.Timing, Doc: "busy CPUs beyond the plan's processes"},
	{Name: "host_cpu", Unit: "cores", Shape: series.Gauge, Class: series.Timing, Doc: "busy CPUs, all together"},
	{Name: "listen_drops", Shape: series.Counter, Class: series.Count, Doc: "connections dropped before they were accepted"},
	{Name: "tcp_retransmits", Shape: series.Counter, Class: series.Count, Doc: "TCP segments sent again"},
	{Name: "tcp_sockets", Shape: series.Gauge, Class: series.Count, Doc: "TCP sockets in use"},
	{Name: "mem_free_mib", Unit: "MiB", Shape: series.Gauge, Class: series.Count, Doc: "memory that can be had without swapping"},
	{Name: "load1", Shape: series.Gauge, Class: series.Timing, Doc: "load average of one minute"},
	{Name: "context_switches", Shape: series.Counter, Class: series.Timing, Doc: "context switches of all CPUs"},
}

// A recorder makes up what is recorded of a run.
type recorder struct {
	*record.Data
	rnd     *rand.Rand
	rate    float64 // requests a second
	ms      float64 // of a typical answer
	trouble bool
}

// noisy is v, give or take 2 %.
func (r *recorder) noisy(v float64) float64 { return v * (1 + 0.02*(2*r.rnd.Float64()-1)) }

func recording(target, variant, seconds int, trouble bool) *record.Data {
	r := &recorder{Data: &record.Data{}, rnd: rand.New(rand.NewPCG(uint64(target), uint64(variant))), trouble: trouble}
	r.rate, r.ms = r.noisy(400/(1+0.05*float64(target))), r.noisy(1+0.1*float64(target))
	r.Run = &record.Run{
		Version: record.Version, Status: record.Done, Seconds: float64(seconds), Install: "0001-proxy", Phases: phasesOf(seconds), Series: hostSeries,
		Actions: []record.Action{{Phase: "warm-up", Kind: "load", Name: "main", Where: "plan.yaml:5:1", End: float64(seconds)}},
		Facts:   record.Facts{Servers: map[string]map[string]float64{}},
	}
	for _, p := range processes {
		for n := range p.replicas {
			if p.Role != "control" {
				x := p.Process
				x.Replica, x.PID = n, 1000+n
				r.Run.Processes = append(r.Run.Processes, x)
			}
		}
	}
	l := record.Load{Name: "main", Headline: true, Workers: 1, Reported: 1, Final: true, End: float64(seconds), Stopped: float64(seconds), Totals: map[string]load.Counts{},
		Spec:  load.Spec{Name: "main", Address: "127.0.0.1:8080", Method: "GET", Path: "/small", Connections: connections, Reuse: true, Timeout: 10 * time.Second},
		Ready: load.Ready{Connections: connections, Verified: 1, Wire: "epoll"}}
	for _, p := range r.Run.Phases {
		r.Events = append(r.Events, record.Event{T: p.Start, Kind: "phase", Message: p.Name})
	}
	var served int64
	for s := range seconds {
		x := r.second(s)
		r.Seconds = append(r.Seconds, x)
		total := l.Totals[x.Phase]
		record.AddCounts(&total, x.Counts)
		l.Totals[x.Phase] = total
		served += x.Counts.OK
		r.points(float64(s))
	}
	r.points(float64(seconds))
	r.Run.Loads = []record.Load{l}
	for n := range processes[1].replicas {
		r.Run.Facts.Servers[fmt.Sprintf("web/%d", n)] = map[string]float64{"requests": float64((served + 1) / 4)}
	}
	if trouble {
		r.fall(target, variant)
	}
	return r.Data
}

// fall makes a run in which something went wrong.
func (r *recorder) fall(target, variant int) {
	r.Run.Facts.ClockStep = 0.2
	r.Run.Processes[0].Died = "proxy: signal: killed"
	at := r.Run.Phases[1].Start + 0.5
	r.Events = append(r.Events, record.Event{T: at, Kind: "exit", Message: "proxy/0 ended: signal: killed", Fields: map[string]any{"process": "proxy"}})
	for i := range 5 {
		r.Run.Examples = append(r.Run.Examples, fmt.Sprintf("main: connect: 127.0.0.1:%d: connection refused (%d/%d)", 8080+i, target, variant))
	}
	r.Run.Actions = append(r.Run.Actions, record.Action{Phase: "measure", Kind: "exec", Name: "check", Where: "plan.yaml:6:1", Due: at, Start: at, End: at, Error: "exit status 1"})
}

// second is what the load did in a second.
func (r *recorder) second(s int) load.Second {
	x := load.Second{Load: "main", Second: s, Latency: new(hdr.Histogram), Service: new(hdr.Histogram), Lag: new(hdr.Histogram)}
	for _, p := range r.Run.Phases {
		if p.Start <= float64(s) {
			x.Phase = p.Name
		}
	}
	n := int64(r.noisy(r.rate))
	x.Counts = load.Counts{Due: n, OK: n, Sent: n, BytesIn: 161 * n, BytesOut: 46 * n}
	if s == 0 {
		x.Counts.Opened, x.Connect = connections, new(hdr.Histogram)
		for range connections {
			x.Connect.Record(int64(1e5 * (1 + r.rnd.Float64())))
		}
	}
	if r.trouble && n > 10 {
		x.Counts.OK, x.Counts.Non2xx, x.Counts.Errors = n-5, map[int]int64{502: 2, 503: 1}, map[string]int64{load.Reset: 1, load.Timeout: 1}
	}
	for range x.Counts.OK {
		d := int64(1e6 * r.ms * math.Exp(r.rnd.NormFloat64()*0.5))
		x.Latency.Record(d)
		x.Service.Record(d - d/50)
		x.Counts.MaxElapsed = max(x.Counts.MaxElapsed, time.Duration(d))
	}
	for range n {
		x.Lag.Record(int64(1e4 * (1 + r.rnd.Float64())))
	}
	return x
}

// points are the samples of all probes at a time.
func (r *recorder) points(at float64) {
	t := at + 0.1 + 0.01*r.rnd.Float64()
	put := func(p series.Point) {
		p.T = t
		r.Points = append(r.Points, p)
	}
	for _, p := range processes {
		for n := range p.replicas {
			of := series.Point{Source: p.Name, Role: p.Role, Replica: n}
			add := func(name, label string, v float64) {
				of.Series, of.Label, of.V = name, label, v
				put(of)
			}
			used := p.cores * (t + 0.01*r.rnd.Float64())
			add("cpu_user_s", "", 10+0.7*used)
			add("cpu_kernel_s", "", 5+0.3*used)
			add("rss_mib", "", r.noisy(p.mib))
			add("rss_peak_mib", "", 1.1*p.mib)
			add("fds", "", float64(10+r.rnd.IntN(40)))
			add("threads", "", float64(p.threads+1))
			add("processes", "", 1)
			for i := range p.threads {
				add("thread_cpu_s", fmt.Sprintf("%s/%d", p.Name, 1000+i), used/float64(p.threads))
			}
		}
	}
	for _, d := range hostSeries {
		v := r.noisy(0.3)
		if d.Shape == series.Counter {
			v = math.Floor(100 * t)
		}
		if d.Name != "cpu_busy" {
			put(series.Point{Series: d.Name, V: v})
			continue
		}
		for i := range cpus {
			put(series.Point{Series: d.Name, Label: fmt.Sprintf("cpu%d", i), V: r.noisy(0.3)})
		}
	}
	waited := int64(1e6 * t)
	for _, p := range measure.HealthPoints("main", 0, 0, load.Health{Second: t, CPUSeconds: 0.3 * t, RunWaitNs: &waited, DescriptorLimit: 20000, Descriptors: 27, Open: connections, InFlight: connections}) {
		put(p)
	}
}
