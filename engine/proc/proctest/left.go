// Package proctest lets a test see what an engine left behind.
package proctest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc/kernel"
)

// Left is what is left of an engine that wrote into a result set: processes that carry its token, or whose command line or
// directory is in the set (nginx overwrites its environment), and its cgroups. An empty token is the one of the journal.
func Left(t testing.TB, dir, token string) (out []string) {
	t.Helper()
	log, err := journal.Read(dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		log = &journal.Log{} // it was killed before it had one
	}
	if token == "" {
		token = log.Owner.Token
	}
	all, err := kernel.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.PID == os.Getpid() || s.Dead() {
			continue
		}
		at := fmt.Sprintf("/proc/%d/", s.PID)
		environ, _ := os.ReadFile(at + "environ")
		cmdline, _ := os.ReadFile(at + "cmdline")
		cwd, _ := os.Readlink(at + "cwd")
		if token != "" && bytes.Contains(environ, []byte(token)) || bytes.Contains(cmdline, []byte(dir+"/")) || strings.HasPrefix(cwd+"/", dir+"/") {
			out = append(out, fmt.Sprintf("process %d: %s", s.PID, bytes.ReplaceAll(cmdline, []byte{0}, []byte(" "))))
		}
	}
	for _, e := range log.Entries {
		var dirs []string
		if e.Kind != "cgroup" || json.Unmarshal(e.Data, &dirs) != nil {
			continue
		}
		for _, d := range dirs {
			if _, err := os.Stat(d); err == nil {
				out = append(out, "cgroup "+d)
			}
		}
	}
	return out
}
