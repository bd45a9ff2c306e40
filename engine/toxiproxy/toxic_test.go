package toxiproxy

import (
	"strings"
	"testing"
	"time"

	client "github.com/Shopify/toxiproxy/v2/client"
	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/serve/faults"
)

func TestOf(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		asked task.Toxic
		want  []Toxic
		field string
		why   string
	}{
		{task.Toxic{Direction: "down", Attributes: faults.Latency{Latency: 20 * ms, Jitter: 5 * ms, Distribution: "uniform"}},
			[]Toxic{{Type: "latency", Stream: "downstream", Share: 1, Attributes: client.Attributes{"latency": int64(20), "jitter": int64(5)}}}, "", ""},
		{task.Toxic{Direction: "both", Share: 0.25, Attributes: faults.Bandwidth{Rate: 64 << 10}},
			[]Toxic{{Type: "bandwidth", Stream: "upstream", Share: 0.25, Attributes: client.Attributes{"rate": int64(66)}},
				{Type: "bandwidth", Stream: "downstream", Share: 0.25, Attributes: client.Attributes{"rate": int64(66)}}}, "", ""},
		{task.Toxic{Direction: "up", Attributes: faults.Slice{Size: 10, Delay: 3 * ms}},
			[]Toxic{{Type: "slicer", Stream: "upstream", Share: 1, Attributes: client.Attributes{"average_size": 10, "size_variation": 0, "delay": int64(3000)}}}, "", ""},
		{task.Toxic{Attributes: faults.LimitData{Bytes: 100}},
			[]Toxic{{Type: "limit_data", Stream: "downstream", Share: 1, Attributes: client.Attributes{"bytes": int64(100)}}}, "", ""},
		{task.Toxic{Attributes: faults.SlowClose{Delay: time.Second}},
			[]Toxic{{Type: "slow_close", Stream: "downstream", Share: 1, Attributes: client.Attributes{"delay": int64(1000)}}}, "", ""},
		{task.Toxic{Attributes: faults.Blackhole{}}, []Toxic{{Type: "timeout", Stream: "downstream", Share: 1, Attributes: client.Attributes{"timeout": 0}}}, "", ""},

		{task.Toxic{Seed: 1, Attributes: faults.Blackhole{}}, nil, "seed", "draws by itself"},
		{task.Toxic{Attributes: faults.Latency{Latency: 20 * ms, Jitter: ms, Distribution: "pareto"}}, nil, "distribution", "uniform jitter only"},
		{task.Toxic{Attributes: faults.Latency{Latency: 1500 * time.Microsecond}}, nil, "latency", "whole milliseconds"},
		{task.Toxic{Attributes: faults.Bandwidth{Rate: 1e6, Shared: true}}, nil, "shared", "its own bandwidth"},
		{task.Toxic{Attributes: faults.Bandwidth{Rate: 1024}}, nil, "", "more than 1 % off"},
		{task.Toxic{Attributes: faults.Bandwidth{Rate: 400}}, nil, "", "whole kB/s"},
		{task.Toxic{Attributes: faults.Timeout{Timeout: ms}}, nil, "", "begins anew"},
		{task.Toxic{Attributes: faults.Stall{}}, nil, "", "cannot hold"},
		{task.Toxic{Attributes: faults.ResetAfter{}}, nil, "", "resets after a time"},
		{task.Toxic{Attributes: faults.Refuse{}}, nil, "", "also cuts those that live"},
		{task.Toxic{Attributes: 7}, nil, "", "does not know"},
	} {
		got, no := Of(c.asked)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v: %s", c.asked, d)
		}
		if (no == nil) != (c.why == "") || no != nil && (no.Field != c.field || !strings.Contains(no.Why, c.why)) {
			t.Errorf("%+v: %+v, want %q at %q", c.asked, no, c.why, c.field)
		}
	}
}
