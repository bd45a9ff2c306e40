package actions

import (
	"strings"
	"testing"
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
