package actions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

func TestWrite(t *testing.T) {
	s := newStage(t)
	s.data = task.TemplateData{Port: map[string]int{"http": 8080}, With: map[string]any{"size": "64k"}}
	tmpl := "port {{ .Port.http }}\nsize {{ .With.size }}\n"
	s.ReadFile = func(path string) ([]byte, error) {
		if filepath.Base(path) == "x.tmpl" {
			return []byte(tmpl), nil
		}
		return nil, os.ErrNotExist
	}
	conf := filepath.Join(s.Dir, "conf.d", "x.conf")
	s.must("write: {file: conf.d/x.conf, template: x.tmpl}")
	if got := s.read(conf); got != "port 8080\nsize 64k\n" {
		t.Errorf("wrote %q", got)
	}
	s.fails("write: {file: y, template: z.tmpl}", "reading the template: ")
	tmpl = "\n\n  {{ .Port.https }}"
	s.fails("write: {file: y, template: x.tmpl}", `x.tmpl:3:10: executing "x.tmpl" at <.Port.https>: map has no entry for key "https"`)
	tmpl = "\n{{ .Prot.http }}"
	s.fails("write: {file: y, template: x.tmpl}", "x.tmpl:2:8: ")
	tmpl = "a\n{{ if }}"
	s.fails("write: {file: y, template: x.tmpl}", "x.tmpl:2: missing value for if")
	s.unwind()
	if got := s.read(conf); got != "port 8080\nsize 64k\n" {
		t.Errorf("a file of the installation must be kept, have %q", got)
	}

	// In a run the old content comes back, and what was written is kept with the run.
	s.inRun()
	s.must("write: {file: conf.d/x.conf, content: 'second hunter2', executable: true}")
	s.must("write: {file: new/deep/y, content: y}")
	if i, err := os.Stat(conf); err != nil || i.Mode().Perm() != 0o755 || s.read(conf) != "second hunter2" {
		t.Errorf("second: %v, %v", i, err)
	}
	if got := s.read(filepath.Join(s.RunDir, "files", "x.conf")); got != "second ***" {
		t.Errorf("kept: %q", got)
	}
	s.unwind()
	if i, err := os.Stat(conf); err != nil || i.Mode().Perm() != 0o644 || s.read(conf) != "port 8080\nsize 64k\n" {
		t.Errorf("restored: %v, %v", i, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was not there is still there: %v", err)
	}
	outside := filepath.Join(t.TempDir(), "etc", "z")
	s.RunDir = ""
	s.must("write: {file: " + outside + ", content: z}")
	s.read(outside)
	s.unwind()
	if _, err := os.Stat(filepath.Dir(outside)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("outside the result set: %v", err)
	}
}

func TestExec(t *testing.T) {
	s := newStage(t)
	s.must(`exec: {command: [sh, -c, 'echo "{\"v\": \"1.2\", \"a\": [{\"n\": 7}], \"yes\": true}"; echo noise >&2'], set: {version: v, n: "a[0].n", yes: .yes}}`)
	if s.values["version"] != "1.2" || s.values["n"] != 7.0 || s.values["yes"] != true {
		t.Errorf("values: %v", s.values)
	}
	s.must("exec: {command: [sh, -c, exit 3], expect-exit: 3}")
	s.fails("exec: {command: [sh, -c, 'echo why >&2; exit 4']}", "running sh: exit status 4; the last lines of its log")
	s.fails("exec: {command: [sh, -c, 'echo why >&2; exit 4']}", "| why")
	s.fails("exec: {command: [sleep, 600], timeout: 100ms}", "it did not end within 100ms")
	s.fails("exec: {command: [echo, text], set: {x: a}}", "the output is not JSON")
	s.fails(`exec: {command: [echo, '{"b": 1}'], set: {x: a}}`, `set: x: . has no "a"`)
	s.fails(`exec: {command: [echo, '{"a": null}'], set: {x: a}}`, "which is no value")
	if err := s.do("exec: [no-such-program-3]"); err == nil {
		t.Error("a missing program")
	} else if _, ok := errors.AsType[*proc.MissingProgram](err); !ok {
		t.Errorf("a missing program: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for len(s.Processes.All()) == 0 { // until it runs
			time.Sleep(time.Millisecond)
		}
		cancel(errors.New("interrupted"))
	}()
	if err := s.doIn(ctx, "exec: [sleep, 600]"); err == nil || !strings.Contains(err.Error(), "it was ended: interrupted") {
		t.Errorf("interrupted: %v", err)
	}

	// What it leaves running lives until the installation ends.
	pidFile := filepath.Join(s.Dir, "pid")
	s.must("exec: {command: [sh, -c, 'setsid sleep 600 >/dev/null 2>&1 & echo $! >" + pidFile + "']}")
	var pid int
	if _, err := fmt.Sscan(s.read(pidFile), &pid); err != nil || kernel.StartTime(pid) == 0 {
		t.Errorf("the daemon %d does not live: %v", pid, err)
	}
	s.unwind()
	if kernel.StartTime(pid) != 0 {
		t.Error("the daemon still lives")
	}
}

// Undo lists are journalled before the change, in an order in which the first of the list is done first, and are done by
// the journal's data alone.
func TestUndoLists(t *testing.T) {
	s := newStage(t)
	var got []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-A")+" "+string(b))
	}))
	defer api.Close()
	log := filepath.Join(s.Dir, "order")
	s.must(`start: {name: a, command: [sh, -c, "trap '' HUP; echo up; while :; do sleep 0.02; done"], ready: {log: up}}`)
	a, err := s.Processes.Find("a")
	if err != nil {
		t.Fatal(err)
	}
	s.must(`{exec: [touch, ` + filepath.Join(s.Dir, "changed") + `], undo: [{exec: [sh, -c, "echo first >>` + log + `"]}, {exec: {command: [sh, -c, "echo second >>` + log + `"], env: {A: b}}}]}`)
	s.must(`{http: {url: ` + api.URL + `/on, method: PUT}, undo: [http: {url: ` + api.URL + `/off, method: POST, headers: {X-A: b}, body: now}]}`)
	s.must(`{signal: {process: a, send: HUP, tree: false}, undo: [signal: {process: a, send: USR1}]}`)
	s.fails(`{exec: [true], undo: [stop: a]}`, "undo: stop cannot undo anything")
	s.fails(`{exec: [true], undo: [exec: [no-such-program-4]]}`, "no-such-program-4")
	s.unwind()
	if want := []string{"PUT /on  ", "POST /off b now"}; !slices.Equal(got, want) {
		t.Errorf("requests: %q", got)
	}
	if order := s.read(log); order != "first\nsecond\n" {
		t.Errorf("order: %q", order)
	}
	<-a[0].Exited()
	if status, _ := a[0].Exit(); status != "signal: user defined signal 1" { // before the end of the installation ended it
		t.Errorf("the signal that undoes: %s", status)
	}
}
