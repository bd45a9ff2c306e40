package measure

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// steady adds a generator that uses cpu CPUs, waits for wait of the time, and has its readings each second.
func steady(d *record.Data, name string, cpu, wait float64) {
	for i := range 8 {
		t := float64(i)
		for s, v := range map[string]float64{"generator_cpu_s": 5 + cpu*t, "generator_run_wait_s": 1 + wait*t, "generator_fds": 20, "generator_fd_limit": 1024, "generator_open": 4} {
			d.Points = append(d.Points, series.Point{T: t, Series: s, Source: name, V: v})
		}
	}
}

// healthy is example with a generator on a CPU of its own, and everything a guard looks at in order.
func healthy() *record.Data {
	d := example()
	steady(d, "main", 0.4, 0.1)
	steady(d, "side", 0.05, 0.01)
	for i := range d.Run.Loads {
		d.Run.Loads[i].CPUs = []int{1}
	}
	for i, p := range d.Run.Processes {
		want := []int{0}
		if p.Role == "load" {
			want = []int{1}
		}
		d.Run.Processes[i].CPUs, d.Run.Processes[i].WantCPUs = want, want
	}
	return d
}

func open(d *record.Data) *record.Load {
	l := &d.Run.Loads[0]
	l.Spec.Rate = []load.RateStep{{To: 100}}
	for i := range d.Seconds {
		if s := &d.Seconds[i]; s.Load == "main" {
			s.Lag = hist(50, 100*time.Microsecond)
		}
	}
	return l
}

func eachMain(d *record.Data, f func(s *load.Second)) {
	for i := range d.Seconds {
		if d.Seconds[i].Load == "main" {
			f(&d.Seconds[i])
		}
	}
}

func setSeries(d *record.Data, name, label string, f func(p *series.Point)) {
	for i := range d.Points {
		if p := &d.Points[i]; p.Series == name && (label == "" || p.Label == label || p.Source == label) {
			f(p)
		}
	}
}

func TestGuardsHold(t *testing.T) {
	for name, d := range map[string]*record.Data{"closed loop": healthy(), "open loop": func() *record.Data { d := healthy(); open(d); return d }()} {
		for _, g := range Guards(d, DefaultThresholds(), Machine{Ports: 28000}) {
			if !g.OK {
				t.Errorf("%s: %s %s: %s", name, g.Name, g.Load, g.Message)
			}
			if g.Message == "" {
				t.Errorf("%s: guard %s says nothing", name, g.Name)
			}
		}
	}
}

func TestGuardsFail(t *testing.T) {
	for _, c := range []struct {
		name   string
		guard  string
		taints string
		says   string
		change func(d *record.Data, t *Thresholds, m *Machine)
	}{
		{"verification failed", "verified", "work", "status 404", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Loads[0].Ready.Problem = "status 404" }},
		{"nothing verified", "verified", "work", "no request of load main was verified", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Loads[0].Ready.Verified = 0 }},
		{"nothing sent", "answered", "work", "load main made no request", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Seconds = nil
		}},
		{"nobody there", "reachable", "passes", "3 of 3", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Loads[0].Ready.Verified, d.Run.Loads[0].Ready.Problem, d.Run.Loads[0].Ready.Refused = 0, "connect: refused", "3 of 3 connections were not opened: connect: refused"
		}},
		{"nothing answered", "answered", "passes", "none of the 700 requests", func(d *record.Data, _ *Thresholds, _ *Machine) {
			eachMain(d, func(s *load.Second) {
				s.Counts = load.Counts{Due: 50, Errors: map[string]int64{load.Connect: 50}}
			})
		}},
		{"a worker is missing", "workers", "work", "1 of 2 workers of load main reported", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Loads[0].Reported = 1 }},
		{"fewer connections", "connections", "work", "opened 4 of 5 connections: too many open files", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Loads[0].Ready.Shortage, d.Run.Loads[0].Spec.Connections = "too many open files", 5
		}},
		{"out of ports", "generator", "work", "could not send 14 of 700 requests of load main for want of something of its own (2 %; at most 1 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			eachMain(d, func(s *load.Second) { s.Counts.OK, s.Counts.Generator = 49, 1 })
		}},
		{"rate not delivered", "rate-delivered", "timing", "sent 90 % of what the rate of load main asked for (at least 99 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			open(d)
			eachMain(d, func(s *load.Second) { s.Counts.OK, s.Counts.Generator = 45, 5 })
		}},
		{"nothing delivered", "rate-delivered", "timing", "sent 0 % of", func(d *record.Data, _ *Thresholds, _ *Machine) { open(d); d.Seconds = nil }},
		{"late", "send-lag", "timing", "the load generator was the bottleneck: its own delay in sending load main reached", func(d *record.Data, _ *Thresholds, _ *Machine) {
			open(d)
			eachMain(d, func(s *load.Second) { s.Lag, s.Counts.StalledLagNs = hist(50, 30*time.Millisecond), 40e6 })
		}},
		{"an own delay above the p99", "own-delay", "", "reached 43 ms; in 2 of 4 seconds it was above the p99 of the answers, 9 ms, and held up to 11 % of the requests", func(d *record.Data, _ *Thresholds, _ *Machine) {
			open(d)
			for i := range 3 { // the second before the window, and two in it
				d.Seconds[3*i].Counts.StalledLagNs, d.Seconds[3*i].Lag = 43e6, hist(20, 100*time.Microsecond, 30*time.Millisecond)
			}
		}},
		{"no lag", "send-lag", "timing", "no send lag", func(d *record.Data, _ *Thresholds, _ *Machine) {
			open(d)
			eachMain(d, func(s *load.Second) { s.Lag = nil })
		}},
		{"its CPU is full", "generator-cpu", "timing", "the load generator was the bottleneck: load main used 0.95 of its 1 CPU (95 %; at most 90 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_cpu_s", "main", func(p *series.Point) { p.V = 0.95 * p.T })
		}},
		{"one CPU for both", "generator-cpu", "timing", "the load generator was the bottleneck: load main shares CPU 0 with nginx, web, busy for 90 % of the time (at most 50 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Loads[0].CPUs = []int{0}
		}},
		{"one CPU for both, without a host probe", "generator-cpu", "timing", "shares CPU 0 with nginx, web, busy for 60 % of the time", func(d *record.Data, _ *Thresholds, m *Machine) {
			d.Run.Loads[0].CPUs, m.CPUs = []int{0}, 2
			setSeries(d, "cpu_busy", "", func(p *series.Point) { p.Series = "else" })
		}},
		{"nothing is pinned and it waits", "generator-cpu", "timing", "was ready to run on all CPUs but had to wait for nginx, web, 30 % of the time (at most 25 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Loads[0].CPUs = nil
			for i := range d.Run.Processes {
				d.Run.Processes[i].CPUs, d.Run.Processes[i].WantCPUs = nil, nil
			}
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.3 * p.T })
		}},
		{"foreign processes take its CPU", "busy-machine", "timing", "this machine was too busy for the load generator: load main was ready to run on CPU 1 but had to wait for processes that the plan did not start, 60 % of the time (at most 50 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.6 * p.T })
		}},
		{"its threads take its CPU from each other", "generator-cpu", "timing", "the load generator was the bottleneck: load main used 0.87 of its 1 CPU, and its own threads had to wait for each other on CPU 1, 60 % of the time (at most 50 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_cpu_s", "main", func(p *series.Point) { p.V = 0.87 * p.T })
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.6 * p.T })
		}},
		{"foreign processes take half of it, and it waits for longer", "busy-machine", "timing", "had to wait for processes that the plan did not start and its threads for each other, 76 % of the time (at most 50 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_cpu_s", "main", func(p *series.Point) { p.V = 0.55 * p.T })
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.76 * p.T })
		}},
		{"the target runs already and takes its CPU", "busy-machine", "timing", "had to wait for processes that the plan did not start (which the target itself may be part of: it was running already), 60 % of the time (at most 50 %)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			notOurs(d)
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.6 * p.T })
		}},
		{"no reading of its CPU", "generator-known", "timing", "nothing recorded", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_cpu_s", "main", func(p *series.Point) { p.Series = "else" })
		}},
		{"descriptors", "descriptors", "work", "had 1000 of its 1024 file descriptors open", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "generator_fds", "main", func(p *series.Point) { p.V = 1000 })
		}},
		{"ports", "ports", "work", "held 26000 connections, a source address has 28000 ports (93 %; at most 90 %)", func(d *record.Data, _ *Thresholds, m *Machine) {
			m.Ports = 28000
			setSeries(d, "generator_open", "main", func(p *series.Point) { p.V = 26000 })
		}},
		{"a fault that no relay saw", "fault", "work", "phase measure asked for 1 toxics, the relays counted 0 in force", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Actions = []record.Action{{Phase: "measure", Kind: "toxic"}}
		}},
		{"a change that never arrived", "change", "work", "scale web 2 -> 3 at 2.0 s: the target was not seen to serve it: not within 10s", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Facts.Changes = []record.Change{{Kind: "scale", What: "scale web 2 -> 3", Start: 2, Why: "not within 10s"}}
		}},
		{"a change whose turn never came", "change", "work", "toggle-route a/: it was not made, its phase ended before; it had waited 2.0 s", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Facts.Changes = []record.Change{{Kind: "toggle-route", What: "toggle-route a/", Start: 4, Unmade: true, Why: "it was not made, its phase ended before; it had waited 2.0 s"}}
		}},
		{"a change that changes nothing", "churn", "work", "scale web 4 -> 4 at 2.0 s changed nothing", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Facts.Changes = []record.Change{{Kind: "scale", What: "scale web 4 -> 4", Start: 2, Nothing: true}}
		}},
		{"a replica that nobody used", "churn", "work", "no request reached web/5, as they counted themselves", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Facts.Changes = []record.Change{{Kind: "scale", What: "scale web 4 -> 6", Start: 2, Arrived: true, Came: []string{"web/4", "web/5"}, Unseen: []string{"web/5"}}}
		}},
		{"a change that was not made", "churn", "work", "asked for (1) 0 were made", func(d *record.Data, _ *Thresholds, _ *Machine) {
			d.Run.Actions = append(d.Run.Actions, record.Action{Phase: d.Run.Phases[0].Name, Kind: "toggle-route"})
		}},
		{"the clock was set", "clock", "timing", "moved by 60.0 ms", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Facts.ClockStep = -0.06 }},
		{"pinned elsewhere", "pinning", "timing", "nginx (replica 1) ran on CPUs 0-1, the plan asked for CPU 0", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Processes[1].CPUs = []int{1, 0} }},
		{"foreign CPU warns", "foreign-cpu", "", "used 15 % of the machine's CPUs (above 10 % is worth a warning)", func(d *record.Data, _ *Thresholds, _ *Machine) {
			setSeries(d, "foreign_cpu", "", func(p *series.Point) { p.V = 0.3 })
		}},
		{"foreign CPU of a target that runs already", "foreign-cpu", "", "what the plan did not start (which the target itself may be part of: it was running already) used 15 % of", func(d *record.Data, _ *Thresholds, _ *Machine) {
			notOurs(d)
			setSeries(d, "foreign_cpu", "", func(p *series.Point) { p.V = 0.3 })
		}},
		{"foreign CPU beyond the plan's limit", "foreign-cpu", "timing", "used 15 % of the machine's CPUs (at most 5 %)", func(d *record.Data, t *Thresholds, _ *Machine) {
			t.ForeignCPU, t.ForeignLimited = 0.05, true
			setSeries(d, "foreign_cpu", "", func(p *series.Point) { p.V = 0.3 })
		}},
		{"too short", "length", "timing", "lasted 4.00 s (at least 5s)", func(_ *record.Data, t *Thresholds, _ *Machine) { t.Shortest = 5 * time.Second }},
		{"never got there", "length", "timing", "no phase of the headline window", func(d *record.Data, _ *Thresholds, _ *Machine) { d.Run.Phases = d.Run.Phases[:1] }},
		{"ended before its headline", "length", "timing", "no phase of the headline window", func(d *record.Data, _ *Thresholds, _ *Machine) {
			p := d.Run.Phases
			p[0].Recorded, p[1].Start, p[1].End, p[2].Start, p[2].End = true, 0, 0, 0, 0
		}},
	} {
		d, th, m := healthy(), DefaultThresholds(), Machine{}
		c.change(d, &th, &m)
		found := false
		for _, g := range Guards(d, th, m) {
			if g.OK || g.Name != c.guard {
				continue
			}
			found = true
			if g.Taints != c.taints || !strings.Contains(g.Message, c.says) {
				t.Errorf("%s: taints %q: %s\nwant %q and %q", c.name, g.Taints, g.Message, c.taints, c.says)
			}
			break
		}
		if !found {
			t.Errorf("%s: guard %s held", c.name, c.guard)
		}
	}
}

// What is the target's doing is no fault of the generator, and a toxic of 0 ms is in force.
func TestGuardsDoNotBlame(t *testing.T) {
	for _, c := range []struct {
		name   string
		guard  string
		change func(d *record.Data)
	}{
		{"requests waited for a slow target's connections", "send-lag", func(d *record.Data) {
			open(d)
			eachMain(d, func(s *load.Second) { s.Lag, s.Counts.StalledLagNs = hist(50, 2*time.Second), 1e6 })
		}},
		{"a slow target", "rate-delivered", func(d *record.Data) {
			open(d)
			eachMain(d, func(s *load.Second) {
				s.Lag = hist(50, 2*time.Second)
				s.Counts.OK, s.Counts.Errors = 0, map[string]int64{load.Dropped: 50}
			})
		}},
		{"an open loop spins for its due times", "generator-cpu", func(d *record.Data) {
			open(d)
			setSeries(d, "generator_cpu_s", "main", func(p *series.Point) { p.V = 0.99 * p.T })
		}},
		{"an open loop waits for a CPU, and is not late", "generator-cpu", func(d *record.Data) {
			open(d)
			setSeries(d, "generator_run_wait_s", "main", func(p *series.Point) { p.V = 0.9 * p.T })
		}},
		{"one CPU for both, hardly used", "generator-cpu", func(d *record.Data) {
			d.Run.Loads[0].CPUs = []int{0}
			setSeries(d, "cpu_busy", "cpu0", func(p *series.Point) { p.V = 0.2 })
		}},
		{"one of its two CPUs is shared", "generator-cpu", func(d *record.Data) { d.Run.Loads[0].CPUs = []int{0, 1} }},
		{"a toxic of 0 ms", "fault", func(d *record.Data) {
			d.Run.Actions = []record.Action{{Phase: "measure", Kind: "toxic"}}
			d.Run.Facts.Faults = []record.Fault{{Phase: "measure", Toxic: "latency", Unit: "ms", Connections: 3, Bytes: 99, Of: 3}}
		}},
		{"as asked, in another order", "pinning", func(d *record.Data) {
			d.Run.Processes[0].CPUs, d.Run.Processes[0].WantCPUs = []int{1, 0}, []int{0, 1}
		}},
		{"many fail", "answered", func(d *record.Data) {
			eachMain(d, func(s *load.Second) { s.Counts.OK, s.Counts.Errors = 1, map[string]int64{load.Reset: 49} })
		}},
	} {
		d := healthy()
		c.change(d)
		seen := false
		for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
			if g.Name == c.guard {
				seen = true
				if !g.OK {
					t.Errorf("%s: %s", c.name, g.Message)
				}
			}
		}
		if !seen {
			t.Errorf("%s: there is no guard %s", c.name, c.guard)
		}
	}
}

func TestCPUList(t *testing.T) {
	for want, cpus := range map[string][]int{"all CPUs": nil, "CPU 3": {3}, "CPUs 0-2,5": {5, 1, 0, 2, 2}} {
		if got := cpuList(cpus); got != want {
			t.Errorf("cpuList(%v) = %q, want %q", cpus, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for want, share := range map[string]float64{"99 %": 0.99, "99.46 %": 0.9946, "98.9 %": 0.989, "45 %": 0.453, "0.1 %": 0.001, "100 %": 1, "0 %": 0} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}

// Of a change that was not made nothing is said but that.
func TestChangeThatWasNotMade(t *testing.T) {
	d := healthy()
	d.Run.Facts.Changes = []record.Change{{Kind: "scale", What: "scale web to 2", Start: 2, Why: "its phase ended before"}}
	for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
		if g.Name == "churn" || g.Name == "change" && g.OK {
			t.Errorf("%+v", g)
		}
	}
}

// What the guards of the generator say in words they have in numbers too, so that a report says the same.
func TestGuardsSeen(t *testing.T) {
	d := healthy()
	open(d)
	for i := range 3 { // the second before the window, and two in it
		d.Seconds[3*i].Counts.StalledLagNs, d.Seconds[3*i].Lag = 43e6, hist(20, 100*time.Microsecond, 30*time.Millisecond)
	}
	want := map[string]record.Seen{"generator-cpu": {Cores: 0.4, CPUs: 1, Waited: 0.1}, "own-delay": {Delay: 43, P99: 9, Above: 2, Late: 2.0 / 19, May: 0.005}, "foreign-cpu": {Foreign: 0.15}}
	setSeries(d, "foreign_cpu", "", func(p *series.Point) { p.V = 0.3 })
	for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
		w, ok := want[g.Name]
		if !ok || g.Load != "main" && g.Load != "" {
			continue
		}
		delete(want, g.Name)
		near := func(x, y float64) bool { return math.Abs(x-y) < 0.01*y+1e-9 }
		if s := g.Seen; s == nil || !near(s.Cores, w.Cores) || s.CPUs != w.CPUs || !near(s.Waited, w.Waited) || !near(s.Delay, w.Delay) || !near(s.P99, w.P99) || s.Above != w.Above || !near(s.Late, w.Late) || !near(s.May, w.May) || !near(s.Foreign, w.Foreign) {
			t.Errorf("%s saw %+v, want %+v", g.Name, g.Seen, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing was seen by %v", want)
	}
}

// notOurs makes a run one of a target that runs already: the plan started none of its processes.
func notOurs(d *record.Data) {
	d.Run.Processes = slices.DeleteFunc(d.Run.Processes, func(p record.Process) bool { return p.Role == "sut" })
}
