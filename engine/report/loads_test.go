package report

import (
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

func TestLoadWords(t *testing.T) {
	for _, c := range []struct {
		load record.Load
		want string
	}{
		{record.Load{Headline: true, Workers: 1, Spec: load.Spec{Connections: 16, Path: "/small", Reuse: true}},
			"16 connections, closed loop, GET /small over h1"},
		{record.Load{Headline: true, Workers: 2, Spec: load.Spec{Connections: 1, Rate: []load.RateStep{{From: 2000, To: 2000}}}},
			"1 connection, open loop, 2,000/s, GET / over h1, a new connection for each request, 2 workers"},
		{record.Load{Spec: load.Spec{Connections: 4, Streams: 16, Protocol: "h2", Method: "POST", Path: "/x", Reuse: true,
			Rate: []load.RateStep{{From: 0, To: 1500, Over: 10 * time.Second}, {From: 1500, To: 1500}}}},
			"4 connections with 16 streams each, open loop, from 0 to 1,500/s for 10s, then 1,500/s, POST /x over h2, not in the headline"},
		{record.Load{Headline: true, Spec: load.Spec{Connections: 2, Scheme: "https", Reuse: true}},
			"2 connections, closed loop, GET / over h1 with TLS"},
	} {
		if got := LoadWords(c.load); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
