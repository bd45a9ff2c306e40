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
		{record.Load{Headline: true, Spec: load.Spec{Connections: 2, Streams: load.MaxStreams, InFlight: 500, Pool: "dial", Protocol: "h2c", SpreadPath: "/i/{0..9}", Reuse: true, By: "x-served-by"}},
			"2 connections with as many streams as the server allows, more where they are full, 500 requests in flight at most, closed loop, GET /i/{0..9} over h2c, counted by x-served-by"},
		{record.Load{Headline: true, Spec: load.Spec{Connections: 100, Pool: "distinct", Scheme: "https", Protocol: "h2", Reuse: true, Resume: true, TLSGroups: []string{"X25519", "P-256"}, ConnectRate: 12.5, ReadRate: 4096, Sources: []string{"127.0.1.0/24", "127.0.0.9"}}},
			"100 connections, one for each request in flight, closed loop, GET / over h2, sessions resumed, groups X25519 and P-256, connections opened at 12.5/s, each read at 4,096 B/s, from 127.0.1.0/24 and 127.0.0.9"},
		{record.Load{Headline: true, Spec: load.Spec{Connections: 1, Proxy: "127.0.0.1:3128", Scheme: "https", Path: "/x", Reuse: true}},
			"1 connection, closed loop, GET /x over h1 with TLS, asked of the target as a forward proxy"},
	} {
		if got := LoadWords(c.load); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
