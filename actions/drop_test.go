package actions

import (
	"context"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/task"
	packets "github.com/planrun/planrun/internal/serve/drop"
)

// Only ports of this machine are dropped: any address of its own goes over the loopback interface.
func TestLocalPort(t *testing.T) {
	for _, tc := range []struct {
		at   string
		port int
		want string
	}{
		{"127.0.0.1:8080", 8080, ""}, {"[::1]:443", 443, ""}, {"127.7.7.7:1", 1, ""}, {"localhost:80", 80, ""},
		{"192.0.2.1:80", 0, "192.0.2.1:80 is not on this machine"}, {"[2001:db8::1]:80", 0, "is not on this machine"},
		{"127.0.0.1", 0, "is no HOST:PORT"}, {"127.0.0.1:http", 0, "http is no port"},
	} {
		port, err := localPort(t.Context(), tc.at)
		if port != tc.port || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d, %v", tc.at, port, err)
		}
	}
}

func TestFaultNames(t *testing.T) {
	for text, want := range map[string]string{
		"drop: {backends: web}":                                       "drop of packets to web",
		"drop: {endpoint: http, share: 2.5%, direction: out}":         "drop of 2.5 % of the packets from endpoint http",
		"drop: {port: 9, direction: both}":                            "drop of packets to and from port 9",
		"limit: {process: a, cpu: 0.5, memory: 1.5GiB, processes: 3}": "limit of a: 0.5 CPUs, 1536 MiB, 3 processes",
		"pause: a": "pause of a",
	} {
		p, problems := loadPlan(t, "", "- "+text)
		if len(problems) > 0 {
			t.Errorf("%s: %q", text, problems)
			continue
		}
		if got := p.Scenarios[0].Val.Phases[0].Val.Do[0].Val.Spec.(interface{ DefaultName() string }).DefaultName(); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// ruled is the process that holds a table of rules, whose phase ends while it makes them.
type ruled struct {
	task.Process
	end   func()
	asked []int // how many rules, each time
}

func (r *ruled) Exited() <-chan struct{} { return nil }

func (r *ruled) Control(ctx context.Context, body, reply any) error {
	r.asked = append(r.asked, len(body.(packets.Control).Rules))
	r.end()
	if out, ok := reply.(*packets.Reply); ok {
		*out = packets.Reply{Before: packets.Sample{Rules: []packets.Counted{{Packets: 3, Dropped: 2}}}}
	}
	return ctx.Err()
}

type stopping struct{ task.Processes }

func (stopping) Stop(context.Context, task.Process) error { return nil }

// What is dropped by rules whose phase ended while they were being made is known. None are made when it is over already.
func TestDropWhosePhaseEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := &ruled{end: func() { cancel(task.ErrPhaseOver) }}
	var effects []task.Effect
	env := &task.Env{Prepared: p, Processes: stopping{}, Fault: func(task.Fault) func(task.Effect) {
		return func(e task.Effect) { effects = append(effects, e) }
	}}
	d := &drop{Port: 9, Share: 0.5, Direction: "both"}
	if err := d.Run(ctx, env); err != nil {
		t.Error(err)
	}
	if len(p.asked) != 2 || p.asked[0] != 2 || p.asked[1] != 0 || len(effects) != 1 || effects[0].Packets != 3 || effects[0].Dropped != 2 || effects[0].Unfelt != "" {
		t.Errorf("asked for %v rules: %+v", p.asked, effects)
	}
	if err := d.Run(ctx, env); err != nil || len(p.asked) != 2 || len(effects) != 1 {
		t.Errorf("after its phase: %v, asked for %v rules: %+v", err, p.asked, effects)
	}
}

// Shares that the kernel cannot draw are refused, at their place and with what it can.
func TestDropShares(t *testing.T) {
	for share, want := range map[string]string{
		"0%": "", "0.0001%": "", "0.0002%": "", "12.3456%": "", "33.333333333%": "", "99.9999%": "", "100%": "",
		"0.00001%": "the nearest is 0.0001%", "0.00017%": "the nearest is 0.0002%", "99.99999%": "the nearest is 99.9999%",
	} {
		_, problems := loadPlan(t, "", "- drop: {port: 9, share: "+share+"}")
		if text := strings.Join(problems, "\n"); (len(problems) > 0) != (want != "") || !strings.Contains(text, want) || want != "" && !strings.Contains(text, "share") {
			t.Errorf("%s: %q, want %q", share, problems, want)
		}
	}
}
