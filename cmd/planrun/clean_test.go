package main

import (
	"encoding/json"
	"testing"

	"github.com/planrun/planrun/engine/journal"
)

// Of every kind of change it is said what it was about.
func TestUndoneSaysWhat(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range []struct{ kind, data, want string }{
		{"process", `{"name": "web", "replica": 1, "token": "t", "start": "s"}`, ""}, // before its start; the next one speaks
		{"process", `{"name": "web", "replica": 1, "token": "t", "start": "s", "pid": 17}`, "process web/1 (id 17)"},
		{"cgroup", `["/sys/fs/cgroup/planrun-web"]`, "cgroup /sys/fs/cgroup/planrun-web"},
		{"limit", `[{"path": "/cg/planrun-web/pids.max", "value": "9"}, {"path": "/cg/planrun-web/cpu.max", "value": "max"}]`,
			"limit /cg/planrun-web/pids.max, /cg/planrun-web/cpu.max"},
		{"toxiproxy", `{"server": "10.0.0.1:8474", "proxies": ["planrun-t-web-0", "planrun-t-web-1"]}`,
			"toxiproxy planrun-t-web-0, planrun-t-web-1 at 10.0.0.1:8474"},
		{"exec", `{"command": ["/bin/rm", "-f", "x"]}`, "exec /bin/rm -f x"},
		{"file", `{"path": "/etc/hosts", "existed": true, "content": "YQ=="}`, "file /etc/hosts"},
		{"http", `{"url": "http://10.0.0.1/off", "method": "POST"}`, "http http://10.0.0.1/off"},
		{"signal", `{"processes": [{"name": "web", "replica": 0}, {"name": "web", "replica": 1}], "send": "CONT", "tree": true}`,
			"signal CONT to web/0, web/1"},
		{"signal", `[]`, "signal whose entry cannot be read"},
		{"of tomorrow", `{}`, "of tomorrow"},
	} {
		if got := journal.About(undos, journal.Line{Kind: tc.kind, Data: json.RawMessage(tc.data)}); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.kind, tc.data, got, tc.want)
		}
		seen[tc.kind] = true
	}
	for _, u := range undos {
		if !seen[u.Kind] {
			t.Errorf("nothing says what is undone of a %s", u.Kind)
		}
	}
}
