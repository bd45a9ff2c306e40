package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// undoer records which entries it undoes, and fails for some.
type undoer struct {
	done []string
	fail map[string]error
}

func (u *undoer) undos() []task.Undo {
	return []task.Undo{{Kind: "x", Run: func(_ context.Context, env *task.UndoEnv, data json.RawMessage) error {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		u.done = append(u.done, s)
		if s == "panics" {
			panic("at the disco")
		}
		return u.fail[s]
	}, Says: func(data json.RawMessage) string { return "called " + strings.Trim(string(data), `"`) }}}
}

func open2(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, Options{Token: "T"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func add(t *testing.T, to task.Journal, kind, data string) task.Entry {
	t.Helper()
	e, err := to.Add(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestUnwindIsLastInFirstOutAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	j := open2(t, dir)
	add(t, j, "x", "a")
	add(t, j, "x", "b")
	add(t, j, "strange", "?")
	done := add(t, j, "x", "taken back")
	add(t, j, "x", "panics")
	add(t, j, "x", "c")
	if err := done.Done(); err != nil {
		t.Fatal(err)
	}
	u := &undoer{fail: map[string]error{"b": errors.New("no")}}
	failed := j.Unwind(t.Context(), u.undos(), &task.UndoEnv{}, time.Second)
	if got := strings.Join(u.done, " "); got != "c panics b a" {
		t.Errorf("undone: %s", got)
	}
	var texts []string
	for _, f := range failed {
		texts = append(texts, f.Error())
	}
	want := []string{
		`undoing entry 6 (x called panics): panic: at the disco`,
		`undoing entry 4 (strange): nothing here knows how to undo "strange"`,
		`undoing entry 3 (x called b): no`,
	}
	if !slices.Equal(texts, want) {
		t.Errorf("failed: %q", texts)
	}
	// Only what failed is tried again, also by another process.
	j.Close()
	u = &undoer{}
	r, err := Clean(t.Context(), dir, u.undos(), time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(u.done, " "); got != "panics b" || len(r.Undone) != 1 || len(r.Failed) != 2 {
		t.Errorf("tried again: %s; %+v", got, r)
	}
}

func TestScopes(t *testing.T) {
	j := open2(t, t.TempDir())
	a, b := j.Scope(), j.Scope()
	add(t, a, "x", "a1")
	add(t, b, "x", "b1")
	add(t, a, "x", "a2")
	add(t, j, "x", "plan")
	u := &undoer{}
	a.Unwind(t.Context(), u.undos(), &task.UndoEnv{}, time.Second)
	u.done = append(u.done, "|")
	j.Unwind(t.Context(), u.undos(), &task.UndoEnv{}, time.Second)
	if got := strings.Join(u.done, " "); got != "a2 a1 | plan b1" {
		t.Errorf("undone: %s", got)
	}
}

// Each entry has its own budget, whatever became of the run's context, and one that hangs is left behind.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, err := Open(dir, Options{Token: "T"})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for _, kind := range []string{"quick", "slow", "deaf", "quick"} {
			if _, err := j.Add(kind, kind); err != nil {
				t.Fatal(err)
			}
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		release := make(chan struct{})
		quick := 0
		undos := []task.Undo{
			{Kind: "quick", Run: func(ctx context.Context, _ *task.UndoEnv, _ json.RawMessage) error {
				quick++
				if d, ok := ctx.Deadline(); !ok || time.Until(d) != time.Minute {
					t.Errorf("it has %v", time.Until(d))
				}
				return ctx.Err()
			}},
			{Kind: "slow", Run: func(ctx context.Context, _ *task.UndoEnv, _ json.RawMessage) error {
				<-ctx.Done()
				return ctx.Err()
			}},
			{Kind: "deaf", Run: func(context.Context, *task.UndoEnv, json.RawMessage) error { <-release; return nil }},
		}
		begun := time.Now()
		failed := j.Unwind(cancelled, undos, &task.UndoEnv{}, time.Minute)
		if took := time.Since(begun); took != 2*time.Minute+6*time.Second+time.Second {
			t.Errorf("it took %v", took)
		}
		if quick != 2 || len(failed) != 2 || failed[0].Line.Kind != "deaf" || !errors.Is(failed[1], context.DeadlineExceeded) {
			t.Errorf("quick %d, failed %v", quick, failed)
		}
		close(release)
	})
}

func TestReadToleratesATornLastLine(t *testing.T) {
	dir := t.TempDir()
	j := open2(t, dir)
	add(t, j, "x", "a")
	add(t, j, "x", "b")
	j.Close()
	path := filepath.Join(dir, File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndexByte(strings.TrimSuffix(string(whole), "\n"), '\n') + 1
	for cut := last + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		log, err := Read(dir)
		if err != nil || len(log.Pending()) != 1 || len(log.Notes) != 1 || log.Owner.PID != os.Getpid() || log.Owner.Token != "T" {
			t.Fatalf("cut at %d: %+v, %v", cut, log, err)
		}
	}
	// What goes on after it writes lines of its own.
	j = open2(t, dir)
	add(t, j, "x", "c")
	log, err := Read(dir)
	if err != nil || len(log.Pending()) != 2 || len(log.Notes) != 0 || log.Pending()[1].Seq != 4 {
		t.Errorf("%+v, %v", log, err)
	}
	j.Close()
	if err := os.WriteFile(path, append([]byte("garbage\n"), whole...), 0o644); err != nil {
		t.Fatal(err)
	}
	if log, err := Read(dir); err != nil || len(log.Damaged) != 1 || log.Damaged[0].Line != 1 {
		t.Errorf("garbage: %+v, %v", log, err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "line 1 of journal.jsonl is damaged") {
		t.Errorf("going on after garbage: %v", err)
	}
}

// Whatever line is damaged, what the others say is undone, and the damaged one is named.
func TestDamagedLine(t *testing.T) {
	write := func(damage int) (dir, line string) {
		dir = t.TempDir()
		j := open2(t, dir)
		e := add(t, j, "x", "a")
		for _, name := range []string{"b", "c"} {
			if _, err := j.Add("x", map[string]string{"name": name, "token": "T"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Done(); err != nil {
			t.Fatal(err)
		}
		j.Close()
		path := filepath.Join(dir, File)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(b), "\n")
		lines[damage-1] = strings.Replace(lines[damage-1], `"t":`, "\x00\x00\x00:", 1)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir, strings.TrimSuffix(lines[damage-1], "\n")
	}
	for damage, want := range []string{1: "c b", 2: "c b", 3: "c", 4: "b", 5: "c b a"} {
		if damage == 0 {
			continue
		}
		dir, line := write(damage)
		var done []string
		undos := []task.Undo{{Kind: "x", Run: func(_ context.Context, env *task.UndoEnv, data json.RawMessage) error {
			if env.Token != "T" {
				t.Errorf("line %d is damaged: the token is %q", damage, env.Token)
			}
			name := "a"
			var d struct{ Name string }
			if json.Unmarshal(data, &d) == nil {
				name = d.Name
			}
			done = append(done, name)
			return nil
		}}}
		for again := range 2 {
			r, err := Clean(t.Context(), dir, undos, time.Second, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Damaged) != 1 || r.Damaged[0].Line != damage || r.Damaged[0].Text != line || len(r.Failed) != 0 {
				t.Errorf("line %d is damaged: %+v", damage, r)
			}
			if !strings.HasPrefix(r.Damaged[0].Error(), fmt.Sprintf("line %d of journal.jsonl is damaged (invalid character", damage)) {
				t.Errorf("it says %v", r.Damaged[0])
			}
			if again == 1 && len(r.Undone) != 0 {
				t.Errorf("undone again: %v", r.Undone)
			}
		}
		if got := strings.Join(done, " "); got != want {
			t.Errorf("line %d is damaged: undone %q, want %q", damage, got, want)
		}
	}
}

func TestTwoOwners(t *testing.T) {
	dir := t.TempDir()
	j := open2(t, dir)
	var owned *OwnedError
	if _, err := Open(dir, Options{Token: "T"}); !errors.As(err, &owned) {
		t.Errorf("opened twice: %v", err)
	}
	if _, err := Clean(t.Context(), dir, nil, time.Second, nil); !errors.As(err, &owned) {
		t.Errorf("cleaned while it is open: %v", err)
	}
	j.Close()
	// An owner that lives but lost its lock (a file system without them) is respected too.
	parent := Owner{PID: os.Getppid(), Start: self("").Start, Boot: self("").Boot}
	if parent.lives() {
		t.Error("a start time that is not the parent's")
	}
	for _, o := range []Owner{{}, {PID: os.Getpid(), Start: self("").Start, Boot: self("").Boot}, {PID: os.Getppid(), Start: 1, Boot: "another"}} {
		if o.lives() {
			t.Errorf("%+v lives", o)
		}
	}
	if _, err := Clean(t.Context(), t.TempDir(), nil, time.Second, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
}

// An entry is on disk when Add returns, and is not before the boundary says so.
func TestBoundary(t *testing.T) {
	dir := t.TempDir()
	var seen []string
	j, err := Open(dir, Options{Token: "T", Boundary: func(after bool, e Line) {
		b, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil {
			t.Error(err)
		}
		written := strings.Contains(string(b), fmt.Sprintf(`"seq":%d,`, e.Seq))
		if written != after {
			t.Errorf("entry %d: after %v, written %v", e.Seq, after, written)
		}
		seen = append(seen, fmt.Sprint(e.Kind, after))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	add(t, j.Scope(), "x", "a")
	if got := strings.Join(seen, " "); got != "ownerfalse ownertrue xfalse xtrue" {
		t.Errorf("boundaries: %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("{\"seq\":1,\"kind\":\"owner\",\"data\":{\"pid\":1}}\n{\"seq\":2,\"kind\":\"x\",\"data\":1}\n{\"seq\":2,\"done\":true}\n"))
	f.Add([]byte("{\"seq\":1"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := parse(b)
		if l.whole > int64(len(b)) {
			t.Errorf("%d whole bytes of %d", l.whole, len(b))
		}
		if len(l.Pending()) > len(l.Entries) {
			t.Error("more pending than there are")
		}
		for _, d := range l.Damaged {
			if d.Line < 1 || d.Line > bytes.Count(b, []byte("\n")) || d.Err == nil {
				t.Errorf("%+v is no line", d)
			}
		}
	})
}
