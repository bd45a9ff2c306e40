package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

var coord = record.Coord{Stage: "all", Target: "nginx", Scenario: "closed", Round: 1, Repeat: 1}

func twoRuns() *tally {
	t := &tally{cells: map[string]*tallied{}}
	t.add("all/nginx/closed", 2, 10*time.Second)
	return t
}

// play tells a progress of a short plan.
func play(p progress) {
	p.Begin("results/x", 20*time.Second)
	p.Install("nginx")
	p.Run(coord, 10*time.Second)
	p.Phase(coord, "measure", 10*time.Second)
	p.Event(coord, record.Event{T: 1, Kind: "phase", Message: "measure"})
	p.Event(coord, record.Event{T: 2.5, Kind: "exit", Message: "nginx ended\nits log ends with:\nbad day"})
	slog.Warn("a probe is late", "by", 3*time.Second)
}

func finish(p progress) {
	p.Done(&record.Run{Coord: coord, Status: record.Done, Seconds: 10.2, Metrics: record.WindowsOf(map[string]map[string]float64{"": {"req_per_s": 1234.4, "p99_ms": 3.21, "failed": 2}})})
	p.None(record.Coord{Stage: "all", Target: "caddy", Scenario: "closed"}, "unsupported", "not installed")
	p.close()
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	l := newLines(&b, twoRuns())
	l.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	restore := capture(l)
	play(l)
	restore()
	finish(l)
	want := `03:04:05 results go to results/x; 2 runs of 1 cell, about 20s and the time to install
03:04:05 installing nginx
03:04:05 run 1 of 2 (cell 1 of 1): all/nginx/closed repeat 1, 10s; about 20s still
03:04:05   phase measure for 10s
03:04:05   2.5s exit: nginx ended
         | its log ends with:
         | bad day
03:04:05 warning: a probe is late by=3s
03:04:05   done after 10.2s: 1,234 req/s, p99 3.21 ms, 2 failed
03:04:05 all/caddy/closed: unsupported: not installed
`
	if b.String() != want {
		t.Errorf("it says\n%s", b.String())
	}
}

// TestLogHandler checks that what is below a warning is not said, and that attributes and groups are.
func TestLogHandler(t *testing.T) {
	var said []string
	log := slog.New(&logHandler{say: func(s string) { said = append(said, s) }})
	log.Info("nothing of interest")
	log.With("a", 1).WithGroup("g").With("b", 2).Error("it broke", "err", errors.New("why"))
	if got := strings.Join(said, "\n"); got != "error: it broke a=1 g.b=2 g.err=why" {
		t.Error(got)
	}
}

// TestStoppedTerminal checks that nobody waits for a terminal that takes nothing.
func TestStoppedTerminal(t *testing.T) {
	release, w := make(chan struct{}), new(said)
	l := newLines(writer(func(b []byte) (int, error) { <-release; return w.Write(b) }), twoRuns())
	for i := range 10_000 {
		l.say(fmt.Sprint(i)) // returns although nothing is written
	}
	close(release)
	l.close()
	if n := strings.Count(w.String(), "\n"); n != 10_000 {
		t.Errorf("%d lines were written", n)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestLiveOnATerminal(t *testing.T) {
	tty, read := terminal(t, 70)
	l := newLive(tty, twoRuns(), true)
	restore := capture(l)
	play(l)
	l.Load(coord, "small", load.Sample{Seconds: []load.Second{second(0, 0, 900, 1, 2*time.Millisecond)}})
	for _, at := range []float64{1, 2} {
		l.Point(coord, series.Point{T: at, Series: "cpu_user_s", Role: "sut", Source: "nginx", V: at / 2})
	}
	for _, want := range []string{"all/nginx/closed repeat 1 (cell 1 of 1, run 1 of 2)", "900/s p99 2 ms failed 1", "CPUs: sut 0.50", "still", "a probe is late by=3s", "bad day"} {
		read.until(t, want)
	}
	if _, err := tty.WriteString("^C"); err != nil { // as a terminal echoes it
		t.Fatal(err)
	}
	l.say("interrupted")
	read.until(t, "interrupted")
	for _, line := range screenOf(read.text()) {
		if strings.HasSuffix(line, "interrupted") && !regexp.MustCompile(`^\d\d:`).MatchString(line) {
			t.Errorf("a part of the frame stays before what is said: %q", line)
		}
	}
	resize(t, tty, 30)
	read.until(t, "…") // it is cut to the new width
	restore()
	finish(l)
	l.say("after the end") // is lost, and blocks nobody
	raw := read.rest(t, tty)
	for _, line := range screenOf(raw) {
		if line != "" && !regexp.MustCompile(`^(\d\d:\d\d:\d\d| +\| )`).MatchString(line) {
			t.Errorf("this is left on the screen: %q", line)
		}
	}
	if left := regexp.MustCompile("\x1b\\[[0-9;]*[AJm]").ReplaceAllString(raw, ""); strings.Contains(left, "\x1b") {
		t.Errorf("an escape that is neither up, erase nor a colour: %q", left)
	}
	if end := strings.Join(screenOf(raw), "\n"); !strings.HasSuffix(end, "all/caddy/closed: unsupported: not installed\n") {
		t.Errorf("the cursor is not at the begin of a line after all that was said:\n%s", end)
	}
}

// Without colours there are none.
func TestNoColor(t *testing.T) {
	if got := (&live{}).paint(red, "x"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := (&live{color: true}).paint(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
}

// A pipe and a dumb terminal get lines.
func TestWhichProgress(t *testing.T) {
	tty, _ := terminal(t, 80)
	for _, x := range []struct {
		term string
		w    interface{ Write([]byte) (int, error) }
		live bool
	}{{"xterm", tty, true}, {"dumb", tty, false}, {"xterm", new(bytes.Buffer), false}} {
		t.Setenv("TERM", x.term)
		if got := isLive(x.w); got != x.live {
			t.Errorf("TERM=%s %T: live is %v", x.term, x.w, got)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, x := range []struct {
		widths         []int
		old, now, want int
	}{{[]int{60, 10, 79}, 80, 80, 0}, {[]int{60, 10, 79}, 80, 100, 0}, {[]int{60, 10, 79}, 80, 40, 2}, {[]int{40, 41, 0}, 80, 40, 1}, {[]int{79}, 80, 20, 3}, {nil, 80, 20, 0}, {[]int{5}, 80, 0, 0}} {
		if got := wrapped(x.widths, x.old, x.now); got != x.want {
			t.Errorf("%v from %d to %d columns: %d rows more, not %d", x.widths, x.old, x.now, got, x.want)
		}
	}
}

// A summary is wrapped on a terminal, and nowhere else.
func TestColumns(t *testing.T) {
	tty, _ := terminal(t, 80)
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if a, b, c := columns(tty), columns(file), columns(&strings.Builder{}); a != 80 || b != 0 || c != 0 {
		t.Errorf("a terminal has %d columns, a file %d, a builder %d", a, b, c)
	}
}
