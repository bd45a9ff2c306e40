package faults

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// MaxLatency bounds a latency with its jitter.
const MaxLatency = 10 * time.Minute

// Latency are the attributes of the toxic "latency": each chunk, and the end of the stream, is passed on so long after it
// was read, never before the chunk ahead of it. What is on its way does not count against the bandwidth.
type Latency struct {
	Latency      time.Duration `json:"latency"`                // nanoseconds, on average
	Jitter       time.Duration `json:"jitter,omitempty"`       // how far it varies; see Distributions
	Distribution string        `json:"distribution,omitempty"` // of Distributions; uniform if empty
}

var latencyKind = kind{"latency", attributes[Latency], mean}

func (l Latency) check() error {
	d := distributions[l.distribution()]
	switch {
	case d.draw == nil:
		return fmt.Errorf("distribution %q: there are %s", l.Distribution, strings.Join(Distributions(), ", "))
	case l.Latency < 0 || l.Jitter < 0:
		return fmt.Errorf("latency %v with jitter %v: neither can be negative", l.Latency, l.Jitter)
	case l.TooMuchJitter() != "":
		return fmt.Errorf("jitter %s", l.TooMuchJitter())
	case l.Latency+l.Jitter > MaxLatency:
		return fmt.Errorf("latency %v with jitter %v: at most %v", l.Latency, l.Jitter, MaxLatency)
	}
	return nil
}

func (l Latency) distribution() string {
	if l.Distribution == "" {
		return uniform
	}
	return l.Distribution
}

// TooMuchJitter says why there cannot be so much jitter: "5ms is more than the latency of 1ms: ..."; "" if there can.
func (l Latency) TooMuchJitter() string {
	d := distributions[l.distribution()]
	if d.draw == nil || l.Jitter <= l.Latency/time.Duration(d.part) {
		return ""
	}
	return fmt.Sprintf("%v is more than %s of %v (%s): %s", l.Jitter, d.most, l.Latency, l.distribution(), d.beyond)
}

// Deviation is the standard deviation of the delays.
func (l Latency) Deviation() time.Duration {
	if l.distribution() == uniform {
		return time.Duration(float64(l.Jitter) / math.Sqrt(3))
	}
	return l.Jitter
}

// Distributions are the names of those of a latency. In uniform the jitter is how far it goes up and down; in the others it
// is the standard deviation. Normal is cut off at three of them; pareto has a least delay, and rare ones that are far longer
// than the rest.
func Distributions() []string {
	var names []string
	for name := range distributions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (l Latency) effect(h *hold) effect {
	salt := uint64(1)
	if h.stream == Upstream {
		salt = 2
	}
	return &latency{l, h, h.random(h.pair, salt)}
}

type latency struct {
	Latency
	hold   *hold
	random *rand.Rand
}

func (l *latency) pass(c *stream.StreamChunk, next func(*stream.StreamChunk)) {
	next(later(c, l.delay(c.Timestamp)))
}

func (l *latency) end(at time.Time) time.Time { return l.delay(at) }

// delay waits until something that came at a time is due. What the relay itself held up for longer than that counts with
// the delay that was drawn: the rest is not the toxic's.
func (l *latency) delay(came time.Time) (due time.Time) {
	d := l.draw(l.random)
	due = came.Add(d)
	if late, ok := l.hold.until(due); ok {
		l.hold.measure(int64(d+late), 1)
	}
	return due
}
