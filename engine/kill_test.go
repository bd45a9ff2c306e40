package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/proc/proctest"
	"github.com/planrun/planrun/engine/record"
)

// doomed is a plan with nginx and builtin processes (an origin, a relay in its path, a proxy, a load), which changes files
// outside of its result set.
const doomed = `
plan: doomed
params: {outside: .}
backends: {web: {}, more: {}}
relays: {slow_web: {of: web}}
setup:
  - write: {file: "${{ params.outside }}/kept", content: changed}
targets:
  both:
    install:
      - start: {name: proxy, builtin: proxy, listen: [http], upstreams: web}
      - write: {file: "${{ params.outside }}/made/by/install", content: x}
      - write:
          file: nginx.conf
          content: |
            daemon off; worker_processes 1; error_log stderr; pid {{.Dir}}/nginx.pid; events {}
            http { access_log off; client_body_temp_path {{.Dir}}/t1; proxy_temp_path {{.Dir}}/t2; fastcgi_temp_path {{.Dir}}/t3;
              uwsgi_temp_path {{.Dir}}/t4; scgi_temp_path {{.Dir}}/t5; server { listen 127.0.0.1:{{.Port.web}}; return 204; } }
      - start: {name: nginx, command: [nginx, -p, "${{ dir }}", -e, stderr, -c, "${{ dir }}/nginx.conf"], listen: [web]}
scenarios:
  s:
    relays: [slow_web]
    phases:
      - load:
          for: 400ms
          do:
            - {load: {path: /small, rate: 100/s}, through: after}
            - write: {file: "${{ params.outside }}/run", content: "{{.Target}}"}
            - {pause: proxy, at: 100ms}
      - fault: {for: 300ms, do: [{toxic: {relay: slow_web, latency: 10ms}}]}
      - churn:
          do:
            - {scale: {backends: more, to: 2, within: 100ms}}
            - {toggle-route: {host: a.local, backends: more, within: 10ms}}
            - {scale: {backends: more, to: 1, drain: announce-first, within: 10ms}}
      - measure: {name: after, for: 300ms}
verdicts: [{verdict: ok, pass: failed == 0, gate: true}]
`

// victim is an engine that runs a plan into a result set, and kills itself at a boundary of its journal: 2k is before its
// entry number k (from 0), 2k+1 after it; -1 is never.
func victim(args []string) {
	file, dir, outside := args[0], args[1], args[2]
	at, err := strconv.Atoi(args[3])
	if err != nil {
		panic(err)
	}
	prog, list := check(file, engine.Options{}, "outside="+outside)
	if list.HasErrors() {
		panic(list)
	}
	_, err = prog.Run(context.Background(), engine.RunOptions{Out: dir, Undos: actions.Undos, Boundary: func(after bool, e journal.Line) {
		n := 2 * (e.Seq - 1)
		if after {
			n++
		}
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err != nil {
		panic(err)
	}
}

// A killing is one run of the doomed plan.
type killing struct{ dir, outside string }

// kill runs an engine that dies at a boundary, or after a while if at is -1 and while is not 0.
func kill(t *testing.T, at int, while time.Duration) killing {
	t.Helper()
	k := killing{filepath.Join(t.TempDir(), "set"), t.TempDir()}
	if err := os.WriteFile(filepath.Join(k.outside, "kept"), []byte("as it was"), 0o640); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "victim", write(t, doomed), k.dir, k.outside, strconv.Itoa(at))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 100 * time.Millisecond // what it started may hold its output open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if while > 0 {
		time.AfterFunc(while, func() { _ = cmd.Process.Kill() })
	}
	err := cmd.Wait()
	killed := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if ctx.Err() != nil || !killed && (err != nil || at >= 0) {
		t.Fatalf("the engine was to be killed: %v\n%s", err, log.String())
	}
	return k
}

// clean undoes what a killed engine left, and makes sure that nothing is left, that doing so again finds nothing, and that
// the report of what there was renders.
func (k killing) clean(t *testing.T) {
	t.Helper()
	for again := range 2 {
		r, err := journal.Clean(t.Context(), k.dir, undos, 20*time.Second, nil)
		if errors.Is(err, fs.ErrNotExist) {
			r = &journal.Report{} // it had no journal yet, so it had started nothing
		} else if err != nil {
			t.Fatal(err)
		}
		if len(r.Failed) > 0 {
			t.Errorf("not undone: %v", r.Failed)
		}
		if again == 1 && len(r.Undone) > 0 {
			t.Errorf("undone again: %v", r.Undone)
		}
	}
	if left := proctest.Left(t, k.dir, ""); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	i, err := os.Stat(filepath.Join(k.outside, "kept"))
	if err != nil || i.Mode().Perm() != 0o640 {
		t.Errorf("the file that was there: %v, %v", i, err)
	}
	if b, _ := os.ReadFile(filepath.Join(k.outside, "kept")); string(b) != "as it was" {
		t.Errorf("the file that was there now holds %q", b)
	}
	if all, _ := os.ReadDir(k.outside); len(all) != 1 {
		t.Errorf("files outside: %v", all)
	}
	k.render(t)
}

// render judges what there is of the set, from its own plan.
func (k killing) render(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(k.dir, "environment.json")); err != nil {
		if ids, _ := os.ReadDir(filepath.Join(k.dir, "runs")); len(ids) > 0 {
			t.Errorf("runs without an environment: %v", ids)
		}
		return // it had just begun
	}
	set, err := record.Open(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := engine.Conclude(set, compileFile(t, filepath.Join(k.dir, "plan.yaml")), engine.ConcludeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := reportOf(t, out); !strings.Contains(text, "doomed") {
		t.Errorf("the report:\n%s", text)
	}
}

// An engine that is killed before or after any entry of its journal leaves nothing that clean does not undo.
func TestKilledAtEveryEntry(t *testing.T) {
	whole := kill(t, -1, 0)
	log, err := journal.Read(whole.dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(log.Entries); n < 12 {
		t.Fatalf("the plan journals %d entries, fewer than its processes and files need", n)
	}
	set, err := record.Open(whole.dir)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := set.Results(); err != nil || res.Exit != 0 && res.Exit != 3 { // inconclusive: this machine is too busy
		t.Fatalf("a run that nobody kills: %+v, %v", res, err)
	}
	last := log.Entries[len(log.Entries)-1].Seq
	whole.clean(t)
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < 2*last; at += step {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			kill(t, at, 0).clean(t)
		})
	}
}

var kills = flag.Int("kills", 12, "random moments at which the engine is killed")

// The same at any moment: while processes start, while a load runs, while things are undone, while it is judged.
func TestKilledAtAnyMoment(t *testing.T) {
	begun := time.Now()
	kill(t, -1, 0).clean(t)
	length := time.Since(begun)
	n := *kills
	if testing.Short() {
		n = 8
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			kill(t, -1, 1+time.Duration(rand.Int64N(int64(length)))).clean(t)
		})
	}
}

// A process that has got the id of one that the engine had started is not touched.
func TestRecycledIDIsNotTouched(t *testing.T) {
	foreign := exec.Command("sleep", "600")
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = foreign.Process.Kill(); _ = foreign.Wait() }()
	k := kill(t, -1, 0)
	was, _ := kernel.Read(foreign.Process.Pid)
	// The entries of its processes are not done any more, and all have the foreign id.
	path := filepath.Join(k.dir, journal.File)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, `"done":true`) {
			lines = append(lines, regexp.MustCompile(`"pid":[1-9][0-9]*`).ReplaceAllString(line, fmt.Sprintf(`"pid":%d`, foreign.Process.Pid)))
		}
	}
	lines[0] = regexp.MustCompile(`"pid":[0-9]*`).ReplaceAllString(lines[0], `"pid":999999999`) // the owner is dead
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := journal.Clean(t.Context(), k.dir, undos, 10*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Undone) < 10 || len(r.Failed) > 0 {
		t.Errorf("%d entries were undone; not: %v", len(r.Undone), r.Failed)
	}
	if now, ok := kernel.Read(foreign.Process.Pid); !ok || now.Dead() || now.Start != was.Start {
		t.Error("a process that is not the engine's was ended")
	}
}
