package record

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// The test binary is also an engine that records a run until it is killed, when this names its result set.
const crashEnv = "RECORD_TEST_WRITE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

// writeForever records a point, a second and an event every few milliseconds, and prints n after the n-th was flushed.
func writeForever(dir string) {
	s, err := Create(CreateOptions{Plan: "p", Out: dir})
	if err != nil {
		panic(err)
	}
	run := newRun()
	run.Phases[0].Start = 0
	w, err := s.StartRun(run, WriterOptions{Every: 20 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		w.Points(series.Point{T: float64(i), Series: "n", V: float64(i)})
		w.Seconds(load.Second{Load: "small/1", Phase: "measure", Second: i, Latency: hist(1e6, 2e6), Counts: load.Counts{Due: 2, OK: 2}})
		w.Event(Event{T: float64(i), Kind: "note"})
		if i%4 == 3 {
			w.Flush()
			fmt.Println(i + 1)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// What was flushed before the engine was killed is there afterwards, whole.
func TestKill(t *testing.T) {
	for i, after := range []int{1, 2, 4} {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("set", i))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		for lines := bufio.NewScanner(out); after > 0 && lines.Scan(); after-- {
			fmt.Sscan(lines.Text(), &said)
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, out)
		cmd.Wait()
		if said == 0 {
			t.Fatal("nothing was written")
		}

		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := s.RunIDs()
		if err != nil || len(ids) != 1 {
			t.Fatalf("runs %v, %v", ids, err)
		}
		d, err := s.Data(ids[0])
		if err != nil {
			t.Fatal(err)
		}
		if d.Run.Status != Unfinished || d.Run.Reason == "" || d.Run.Coord.Target != "nginx" {
			t.Errorf("the run is %q (%s) of %q", d.Run.Status, d.Run.Reason, d.Run.Coord.Target)
		}
		if len(d.Points) < said || len(d.Seconds) < said || len(d.Events) < said {
			t.Errorf("%d were flushed; there are %d points, %d seconds, %d events", said, len(d.Points), len(d.Seconds), len(d.Events))
		}
		for _, sec := range d.Seconds[:min(said, len(d.Seconds))] {
			if sec.Counts.OK != 2 || sec.Latency.Count() != 2 || sec.Latency.Max() != 2e6 {
				t.Fatalf("second %d: %+v, %d latencies", sec.Second, sec.Counts, sec.Latency.Count())
			}
		}
		// The phase that went on ends with what is known last; the one that never began is gone.
		if p := d.Run.Phases; len(p) != 1 || p[0].End < float64(said-1) || p[0].Ended != "interrupted" || d.Run.Seconds < p[0].End {
			t.Errorf("phases %+v, %v s", p, d.Run.Seconds)
		}
	}
}

// Whatever the last line lost, the rest is read, and the reader says what it left out.
func TestTorn(t *testing.T) {
	s := newSet(t)
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		w.Points(series.Point{T: float64(i), Series: "n", V: 1})
		w.Seconds(load.Second{Load: "small/1", Phase: "measure", Second: i, Latency: hist(1e6), Counts: load.Counts{Due: 1, OK: 1}})
		w.Event(Event{T: float64(i), Kind: "note"})
		w.Flush()
	}
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"series.jsonl", "latency.hlog", "events.jsonl"} {
		path := filepath.Join(w.Dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := len(whole) - 1 - bytes.LastIndexByte(whole[:len(whole)-1], '\n')
		for _, cut := range []int{1, 2, 3, last / 2, last - 2, last - 1} {
			if err := os.WriteFile(path, whole[:len(whole)-cut], 0o644); err != nil {
				t.Fatal(err)
			}
			d, err := s.Data(w.ID)
			if err != nil {
				t.Fatalf("%s without its last %d bytes: %v", name, cut, err)
			}
			if len(d.Notes) == 0 || !strings.Contains(strings.Join(d.Notes, "\n"), name) {
				t.Errorf("%s without its last %d bytes: notes %q", name, cut, d.Notes)
			}
			if len(d.Points) < 2 || len(d.Seconds) < 2 || len(d.Events) < 2 {
				t.Errorf("%s without its last %d bytes: %d points, %d seconds, %d events", name, cut, len(d.Points), len(d.Seconds), len(d.Events))
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"series.jsonl", "latency.hlog", "events.jsonl", "run.json"} {
		if err := os.Remove(filepath.Join(w.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.Data(w.ID)
	if err != nil || d.Run.Status != Unfinished || len(d.Notes) != 3 {
		t.Errorf("an empty directory: %v, %+v", err, d)
	}
}

// full is a disk that takes some bytes and no more, until there is space again.
type full struct {
	io.WriteCloser
	left *int
}

func (f full) Write(b []byte) (int, error) {
	n := min(len(b), *f.left)
	m, err := f.WriteCloser.Write(b[:n])
	*f.left -= m
	if err == nil && m < len(b) {
		err = syscall.ENOSPC
	}
	return m, err
}

func TestDiskFull(t *testing.T) {
	s := newSet(t)
	run := newRun()
	left := 1 << 20
	said := make(chan error, 9)
	w, err := s.StartRun(run, WriterOptions{
		Every:  time.Hour,
		Report: func(err error) { said <- err },
		create: func(path string) (io.WriteCloser, error) {
			f, err := os.Create(path)
			return full{f, &left}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	point := func(i int) { w.Points(series.Point{T: float64(i), Series: "n", V: float64(i)}) }
	point(0)
	w.Flush()
	left = 20 // a part of a line
	point(1)
	point(2)
	w.Flush()
	left = 0
	point(3)
	w.Flush()
	w.Event(Event{Kind: "note"})
	left = 1 << 20
	point(4)
	run.Status = Done
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	if run.Facts.Lost != 4 { // 1, 2 and 3, and the event
		t.Errorf("lost %d lines, want 4", run.Facts.Lost)
	}
	if err := <-said; !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "the run goes on") {
		t.Errorf("said %v", err)
	}
	if len(said) > 0 {
		t.Error("said more than once")
	}
	d, err := s.Data(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Points) != 2 || d.Points[1].V != 4 || len(d.Notes) != 1 || d.Run.Facts.Lost != 4 {
		t.Errorf("points %v, notes %q, lost %d", d.Points, d.Notes, d.Run.Facts.Lost)
	}
}
