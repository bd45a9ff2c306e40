package engine

import (
	"testing"

	"github.com/planrun/planrun/engine/task"
)

func TestOwnTarget(t *testing.T) {
	backend, proxy := task.ProcessDecl{Role: "backends"}, task.ProcessDecl{Role: "sut", Builtin: "proxy"}
	for _, c := range []struct {
		what      string
		processes []task.ProcessDecl
		want      string
	}{
		{"nothing is started", []task.ProcessDecl{backend}, ""},
		{"a server of planrun's own", []task.ProcessDecl{backend, proxy}, "proxy"},
		{"two of a kind", []task.ProcessDecl{proxy, {Builtin: "proxy"}}, "proxy"},
		{"beside another program", []task.ProcessDecl{proxy, {Role: "sut"}}, ""},
		{"two kinds", []task.ProcessDecl{proxy, {Role: "sut", Builtin: "relay"}}, ""},
	} {
		if got := (&declared{processes: c.processes}).own(); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
