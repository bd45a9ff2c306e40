package measure

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

func (j *judge) verified(l *record.Load) {
	switch {
	case l.Ready.Problem != "" && l.Ready.Refused != "":
		// Nobody was there to answer: a result of the target, whose requests fail, and no wrong measurement.
		j.add("reachable", l.Name, false, taintsPasses, "the target did not take the connections of load %s: %s", l.Name, l.Ready.Refused)
	case l.Ready.Problem != "":
		j.add("verified", l.Name, false, taintsWork, "before it was measured, a request of load %s was not answered as expected: %s", l.Name, l.Ready.Problem)
	case l.Ready.Verified == 0:
		j.add("verified", l.Name, false, taintsWork, "no request of load %s was verified before it was measured", l.Name)
	default:
		j.add("verified", l.Name, true, taintsWork, "%d requests of load %s were verified before it was measured", l.Ready.Verified, l.Name)
	}
}

func (j *judge) answered(l *record.Load, s *loadSum) {
	c := &s.counts
	answers := c.OK + total(c.Non2xx) + c.Errors[load.Mismatch]
	switch {
	case c.Due == 0:
		j.add("answered", l.Name, false, taintsWork, "load %s made no request", l.Name)
	case answers == 0: // its failures stand
		j.add("answered", l.Name, false, taintsPasses, "none of the %d requests of load %s was answered", c.Due, l.Name)
	default:
		j.add("answered", l.Name, true, taintsWork, "%d of the %d requests of load %s were answered", answers, c.Due, l.Name)
	}
}

func (j *judge) workers(l *record.Load) {
	j.add("workers", l.Name, l.Reported == l.Workers && l.Workers > 0, taintsWork, "%d of %s of load %s reported", l.Reported, plural.Of(l.Workers, "worker"), l.Name)
}

// connections holds also for a target that takes fewer connections than asked, as long as the generator could open them.
func (j *judge) connections(l *record.Load) {
	if l.Ready.Shortage != "" {
		j.add("connections", l.Name, false, taintsWork, "load %s opened %d of %d connections: %s", l.Name, l.Ready.Connections, l.Spec.Connections, l.Ready.Shortage)
		return
	}
	j.add("connections", l.Name, true, taintsWork, "load %s opened %d connections, of %d asked", l.Name, l.Ready.Connections, l.Spec.Connections)
}

// lacked is about requests that the generator could not send for want of descriptors, ports, memory or CPU.
func (j *judge) lacked(l *record.Load, s *loadSum) {
	if s.counts.Due == 0 {
		return
	}
	share := float64(s.counts.Generator) / float64(s.counts.Due)
	j.add("generator", l.Name, share <= 1-j.t.RateDelivered+1e-9, taintsWork,
		"the load generator could not send %d of %d requests of load %s for want of something of its own (%s; at most %s)",
		s.counts.Generator, s.counts.Due, l.Name, percent(share), percent(1-j.t.RateDelivered))
}

// rate is judged on the headline phases, or where the load had no part in them on all recorded ones.
func (j *judge) rate(l *record.Load) {
	s := j.headline(l)
	share, why := s.delivered()
	if why != "" {
		j.add("rate-delivered", l.Name, false, taintsTiming, "the rate that load %s delivered is not known: %s", l.Name, why)
		return
	}
	j.add("rate-delivered", l.Name, share >= j.t.RateDelivered, taintsTiming,
		"the load generator sent %s of what the rate of load %s asked for (at least %s)", percent(share), l.Name, percent(j.t.RateDelivered))
}

// headline is what a load did in the headline phases, or in all recorded ones if it had no part in those.
func (j *judge) headline(l *record.Load) *loadSum {
	if s := j.sums[l.Name]; s != nil {
		return s
	}
	if j.sums == nil {
		j.sums = map[string]*loadSum{}
	}
	s := j.headlineOf(map[string]bool{l.Name: true})
	j.sums[l.Name] = s
	return s
}

func (j *judge) headlineOf(loads map[string]bool) *loadSum {
	if s := j.ix.sum(loads, j.rates); len(s.pieces) > 0 {
		return s
	}
	if s := j.ix.sum(loads, spansOf(j.run.Phases, func(p record.Phase) bool { return p.Recorded })); len(s.pieces) > 0 {
		return s
	}
	return j.ix.sum(loads, spansOf(j.run.Phases, func(record.Phase) bool { return true }))
}

// lag tells the generator's own send lag from the wait for a connection that a slow target keeps: a lag beyond the
// threshold is the generator's if its own largest lag was beyond it in at least half the seconds.
func (j *judge) lag(l *record.Load) {
	s := j.headline(l)
	if s.lag().Count() == 0 {
		j.add("send-lag", l.Name, false, taintsTiming, "no send lag of load %s was recorded", l.Name)
		return
	}
	p99 := time.Duration(s.lag().Quantile(0.99))
	own := 0
	var worst time.Duration
	for _, p := range s.pieces {
		lag := time.Duration(p.Counts.StalledLagNs)
		worst = max(worst, lag)
		if lag > j.t.SendLag {
			own++
		}
	}
	switch {
	case p99 <= j.t.SendLag:
		j.add("send-lag", l.Name, true, taintsTiming, "99 %% of the requests of load %s were sent at most %s late (at most %v)", l.Name, milliseconds(p99), j.t.SendLag)
	case 2*own >= len(s.pieces):
		j.add("send-lag", l.Name, false, taintsTiming, "the load generator was the bottleneck: its own delay in sending load %s reached %s, and was above %v in %d of %d seconds (at most half); 1 %% of the requests were sent more than %s late, waiting for a connection included",
			l.Name, milliseconds(worst), j.t.SendLag, own, len(s.pieces), milliseconds(p99))
	default:
		j.add("send-lag", l.Name, true, taintsTiming, "1 %% of the requests of load %s were sent more than %s late, because they waited for a connection; the generator's own send lag went above %v in %d of %d seconds (at most half)",
			l.Name, milliseconds(p99), j.t.SendLag, own, len(s.pieces))
	}
}

// ownDelay warns where the load generator's own delay in sending may have made the p99 of the answers: it held up a good part
// of the 1 % of the requests that are above it for longer than that. The send lag of a second says how many those were at the
// most; how long the generator itself kept one of them, without a wait for a connection, is known of the worst of each second.
// In a closed loop a request is due when it is sent: there generatorCPU says how long the generator waited for a CPU.
func (j *judge) ownDelay(l *record.Load) {
	s := j.headline(l)
	if s.latency().Count() == 0 || s.lag().Count() == 0 {
		return
	}
	p99 := time.Duration(s.latency().Quantile(0.99))
	seconds, late := 0, int64(0)
	var worst time.Duration
	for _, p := range s.pieces {
		own := time.Duration(p.Counts.StalledLagNs)
		worst = max(worst, own)
		if own > p99 {
			seconds, late = seconds+1, late+above(p.Lag, p99)
		}
	}
	share := float64(late) / float64(s.lag().Count())
	j.add("own-delay", l.Name, share <= j.t.OwnDelay, "",
		"the load generator's own delay in sending load %s reached %s; in %d of %d seconds it was above the p99 of the answers, %s, and held up to %s of the requests for longer than that (above %s is worth a warning)",
		l.Name, milliseconds(worst), seconds, len(s.pieces), milliseconds(p99), percent(share), percent(j.t.OwnDelay))
	j.saw(record.Seen{Delay: float64(worst) / 1e6, P99: float64(p99) / 1e6, Above: seconds, Late: share, May: j.t.OwnDelay})
}

func (j *judge) descriptors(l *record.Load) {
	used, limit := j.generator(l, "generator_fds"), j.generator(l, "generator_fd_limit")
	worst, at, of := 0.0, 0.0, 0.0
	for _, u := range used {
		for _, m := range limit {
			if m.replica == u.replica && maxOf(m.v) > 0 {
				if share := maxOf(u.v) / maxOf(m.v); share >= worst {
					worst, at, of = share, maxOf(u.v), maxOf(m.v)
				}
			}
		}
	}
	if of > 0 {
		j.add("descriptors", l.Name, worst <= j.t.Descriptors, taintsWork, "a worker of load %s had %.0f of its %.0f file descriptors open (%s; at most %s)", l.Name, at, of, percent(worst), percent(j.t.Descriptors))
	}
}

// ports compares open connections, all of which may go to one port, with the ports of the addresses that they come from.
func (j *judge) ports(l *record.Load) {
	open := j.generator(l, "generator_open")
	if len(open) == 0 || j.m.Ports <= 0 {
		return
	}
	_, v := valuesOf(open)
	addresses := sourceAddresses(l.Spec.Sources)
	ports := addresses * float64(j.m.Ports)
	share := maxOf(v) / ports
	words := fmt.Sprintf("a source address has %d ports", j.m.Ports)
	if addresses > 1 {
		words = fmt.Sprintf("its %.0f source addresses have %.0f ports", addresses, ports)
	}
	j.add("ports", l.Name, share <= j.t.Ports, taintsWork, "load %s held %.0f connections, %s (%s; at most %s)", l.Name, maxOf(v), words, percent(share), percent(j.t.Ports))
}

// sourceAddresses is how many addresses connections come from.
func sourceAddresses(sources []string) float64 {
	sum := 0.0
	for _, s := range sources {
		if p, err := netip.ParsePrefix(s); err == nil {
			sum += math.Exp2(float64(p.Addr().BitLen() - p.Bits()))
		} else {
			sum++
		}
	}
	return max(1, sum)
}

// generator are the tracks of what the workers of a load said of themselves.
func (j *judge) generator(l *record.Load, name string) []*track {
	var out []*track
	for _, tr := range j.ix.tracks {
		if tr.series == name && tr.source == l.Name && tr.role == "" {
			out = append(out, tr)
		}
	}
	return out
}
