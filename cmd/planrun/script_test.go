package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"planrun": main}) }

// TestScripts runs the command as users do. Each script finds the plans of testdata/plans beside it.
//
//	exits CODE COMMAND ...           runs a command that must exit with this code, or with one of several (0,1,3)
//	signals CODE GLOB TEXT SIGNALS COMMAND ...  starts a command, waits until a file has a text, sends it signals (INT,INT,KILL),
//	                                 each after what was said of the one before, and wants this code (-1: a signal ended it).
//	                                 What it wrote is in the files stdout and stderr.
//	edit FILE OLD NEW                replaces a text in a file, which must be there
//	resultset DIR KEY=VALUE ...      writes a small result set: see resultSet
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error { return os.CopyFS(e.WorkDir, os.DirFS("testdata/plans")) },
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "signals": signals, "edit": edit, "resultset": resultSet},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if x, ok := err.(*exec.ExitError); ok {
		code, err = x.ExitCode(), nil
	}
	ts.Check(err)
	if !slices.Contains(strings.Split(args[0], ","), fmt.Sprint(code)) {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

// patience is how long a script waits for what must come. Nothing is slower by it.
const patience = 90 * time.Second

func signals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: signals CODE GLOB TEXT SIGNALS COMMAND ...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[4]) // as testscript finds it, in the PATH of this process
	ts.Check(err)
	var stdout, stderr said
	c := exec.Command(path, args[5:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &stdout, &stderr
	ts.Check(c.Start())
	over := make(chan struct{})
	go func() { _ = c.Wait(); close(over) }() // the code is checked below
	defer func() {
		for name, s := range map[string]*said{"stdout": &stdout, "stderr": &stderr} {
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(s.String()), 0o644))
		}
	}()
	fail := func(format string, args ...any) {
		_ = c.Process.Kill()
		ts.Fatalf(format+"\n%s", append(args, stderr.String())...)
	}
	until := func(what string, ok func() bool) {
		for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
			select {
			case <-over:
				fail("it ended before %s", what)
			default:
			}
			if time.Now().After(deadline) {
				fail("waited in vain for %s", what)
			}
		}
	}
	until(args[2]+" in "+args[1], func() bool { return anyHas(ts.MkAbs(args[1]), args[2]) })
	for i, name := range strings.Split(args[3], ",") {
		until("a word of the signal before", func() bool { return strings.Count(stderr.String(), "interrupt again") >= i })
		ts.Check(c.Process.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[name]))
	}
	select {
	case <-over:
	case <-time.After(patience):
		fail("it does not end")
	}
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, not %d\n%s", got, want, stderr.String())
	}
}

// anyHas reports whether a file of a pattern has a text.
func anyHas(pattern, text string) bool {
	files, _ := filepath.Glob(pattern) // the pattern is right
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}

// said is what a process writes, readable meanwhile.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
