package measure

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		f    record.Fault
		ok   bool
		says string
	}{
		{record.Fault{Toxic: "latency", End: 2}, false, "was in force from 0.0 s to 2.0 s, but nothing passed the relay under it"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20}, false, "nothing waited for as long as it asked (20.00 ms)"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Measured: 4, Of: 9}, false, "added 4.00 ms, of 20.00 ms asked (from 18.00 ms to 35.00 ms counts as in force)"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Measured: 36, Of: 9}, false, "added 36.00 ms"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Measured: 20.8, Of: 9}, true, "was in force for 4 connections: it added 20.80 ms, of 20.00 ms asked"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Spread: 5, Measured: 14, Of: 4}, true, "added 14.00 ms"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Spread: 5, Measured: 14, Of: 400}, false, "from 17.00 ms to 36.00 ms"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Of: 9}, true, "added 0.00 ms, of 0.00 ms asked"},
		{record.Fault{Toxic: "latency", Connections: 4, Unit: "ms", Asked: 20, Measured: 20.8, Of: 9, Gone: "the relays died"}, false, "was not in force to the end: the relays died"},
		{record.Fault{Toxic: "slow-close", Connections: 2, Unit: "ms", Asked: 100, Measured: 101, Of: 2}, true, "added 101.00 ms"},
		{record.Fault{Toxic: "bandwidth", Connections: 1, Bytes: 4000, Held: 3900, Unit: "B/s", Asked: 1000, Measured: 990, Of: 3900}, true, "passed at 990 B/s, of 1000 B/s asked"},
		{record.Fault{Toxic: "bandwidth", Connections: 1, Bytes: 4000, Held: 3900, Unit: "B/s", Asked: 1000, Measured: 1200, Of: 3900}, false, "at most 1100 B/s counts"},
		{record.Fault{Toxic: "bandwidth", Connections: 1, Bytes: 4000, Held: 3900, Unit: "B/s", Asked: 1000, Measured: 700, Of: 3900}, false, "at least 800 B/s counts"},
		{record.Fault{Toxic: "bandwidth", Connections: 1, Bytes: 9000, Held: 3900, Unit: "B/s", Asked: 1000, Measured: 700, Of: 3900}, true, "too little came, or it was taken too slowly"},
		{record.Fault{Toxic: "bandwidth", Connections: 5, Chunks: 200, Bytes: 22000, Unit: "B/s", Asked: 1e12}, false, "nothing had to wait"},
		{record.Fault{Toxic: "bandwidth", Connections: 5, Chunks: 200, Bytes: 22000, Unit: "B/s", Asked: 50e3}, true, "too little came at once"},
		{record.Fault{Toxic: "bandwidth", Connections: 1, Bytes: 90, Held: 30, Unit: "B/s", Asked: 1000, Measured: 700, Of: 30}, true, "too little came at once to reach its rate"},
		{record.Fault{Toxic: "slice", Connections: 1, Unit: "B", Asked: 100}, false, "nothing that came was larger than 100 B"},
		{record.Fault{Toxic: "slice", Connections: 1, Unit: "B", Asked: 100, Measured: 95, Of: 9}, true, "in pieces of 95 B, of at most 100 B asked"},
		{record.Fault{Toxic: "slice", Connections: 1, Unit: "B", Asked: 100, Measured: 101, Of: 9}, false, "in pieces of 101 B"},
		{record.Fault{Toxic: "reset-after", Connections: 5, Unit: "B", Asked: 1024}, false, "none of them was reset by it"},
		{record.Fault{Toxic: "reset-after", Connections: 5, Resets: 3, Unit: "B", Asked: 1024, Measured: 1024, Of: 3}, true, "for 5 connections: 3 were reset by it, after 1024 B, of 1024 B asked"},
		{record.Fault{Toxic: "reset-after", Connections: 5, Resets: 3, Unit: "B", Asked: 1024, Measured: 900, Of: 3}, false, "after 900 B"},
		{record.Fault{Toxic: "reset-after", Connections: 5, Resets: 5, Unit: "B", Of: 5}, true, "5 were reset by it, after 0 B, of 0 B asked"},
		{record.Fault{Toxic: "limit-data", Connections: 5, Closed: 3, Unit: "B", Asked: 10, Measured: 10, Of: 3}, true, "3 were ended by it, after 10 B"},
		{record.Fault{Toxic: "limit-data", Connections: 5, Unit: "B", Asked: 10}, false, "none of them was ended by it"},
		{record.Fault{Toxic: "timeout", Connections: 5, Closed: 3, Unit: "ms", Asked: 500, Measured: 501, Of: 3}, true, "3 were ended by it, after 501.00 ms, of 500.00 ms asked"},
		{record.Fault{Toxic: "timeout", Connections: 5, Closed: 3, Unit: "ms", Asked: 500, Measured: 400, Of: 3}, false, "from 450.00 ms to 755.00 ms counts"},
		{record.Fault{Toxic: "stall", Connections: 5, Bytes: 700, Held: 700}, true, "for 5 connections: 700 bytes had to wait"},
		{record.Fault{Toxic: "stall", Connections: 5, Bytes: 70000, Held: 700}, false, "700 bytes had to wait, of 70000 that came"},
		{record.Fault{Toxic: "stall"}, false, "nothing passed the relay under it"},
		{record.Fault{Toxic: "blackhole", Connections: 5}, true, "0 bytes were swallowed"},
		{record.Fault{Toxic: "latency", Server: "the server at x", Unit: "ms", Asked: 20, Connections: 4}, false, "but nothing passed the relay under it"},
		{record.Fault{Toxic: "latency", Server: "the server at x", Unit: "ms", Asked: 20, Connections: 4, Bytes: 9}, true, "as the server at x says; 4 connections and 9 bytes passed"},
		{record.Fault{Toxic: "latency", Server: "the server at x", Connections: 4, Bytes: 9, Gone: "it had it no longer"}, false, "it had it no longer"},
		{record.Fault{Toxic: "refuse"}, false, "nobody tried to connect"},
		{record.Fault{Toxic: "refuse", Refused: 3}, true, "3 connections were refused"},
		{record.Fault{Toxic: "refuse", Refused: 3, Inexact: true}, true, "at most 3 connections were refused"},
	} {
		if ok, why := inForce(c.f); ok != c.ok || !strings.Contains(why, c.says) {
			t.Errorf("%+v: %v, %s\nwant %v, %s", c.f, ok, why, c.ok, c.says)
		}
	}
}

// A toxic that comes and goes is judged as a whole: one time in which nothing passed says nothing.
func TestFaultsAlike(t *testing.T) {
	d := healthy()
	stall := record.Fault{Relay: "slow_web", Toxic: "stall", Says: "stall", Phase: "measure", Connections: 5, Bytes: 700, Held: 700}
	d.Run.Facts.Faults = []record.Fault{stall, {Relay: "slow_web", Toxic: "stall", Says: "stall", Phase: "measure"}}
	var said []record.Guard
	for _, g := range Guards(d, DefaultThresholds(), Machine{}) {
		if g.Name == "fault" {
			said = append(said, g)
		}
	}
	if len(said) != 1 || !said[0].OK || !strings.Contains(said[0].Message, "700 bytes had to wait (2 times)") {
		t.Errorf("%+v", said)
	}
}
