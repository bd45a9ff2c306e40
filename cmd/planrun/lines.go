package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// lines shows a line an event, for logs.
type lines struct {
	engine.Quiet
	place
	out   *outbox
	mu    sync.Mutex // of the tally
	tally *tally
	now   func() time.Time
}

func newLines(w io.Writer, t *tally) *lines {
	return &lines{out: newOutbox(w), tally: t, now: time.Now}
}

func (l *lines) close() { l.out.close() }

// say writes a line.
func (l *lines) say(text string) {
	l.out.add(l.now().UTC().Format("15:04:05") + " " + indented(text) + "\n")
}

func (l *lines) Begin(dir string, _ time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.goesTo(dir)
	l.tally.begin(l.now())
	l.say(beginText(dir, l.tally, l.now()))
}

func (l *lines) Install(target string) { l.say("installing " + target) }

func (l *lines) Run(c record.Coord, length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	which := l.tally.run(cellName(c))
	l.say(fmt.Sprintf("%s (%s): %s, %s; %s", which, l.tally.place(), runName(c), long(length), still(l.tally.left(l.now()))))
}

func (l *lines) Phase(_ record.Coord, name string, length time.Duration) {
	text := "  phase " + name
	if length > 0 {
		text += " for " + length.String()
	}
	l.say(text)
}

func (l *lines) Event(_ record.Coord, e record.Event) {
	if e.Kind != "phase" && e.Kind != "output" {
		l.say(eventText(e))
	}
}

func (l *lines) Note(target, text string) { l.say(target + ": " + text) }

func (l *lines) Done(r *record.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.done(l.now())
	l.say("  " + doneText(r))
}

func (l *lines) None(c record.Coord, status, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.none(cellName(c))
	l.say(noneText(c, status, why))
}

// long is the length of a run; one that ends by itself has none.
func long(d time.Duration) string {
	if d == 0 {
		return "until it ends by itself"
	}
	return d.String()
}

func beginText(dir string, t *tally, now time.Time) string {
	return fmt.Sprintf("results go to %s; %s of %s, %s and the time to install", relative(dir), plural.Of(t.runs, "run"), plural.Of(len(t.cells), "cell"), strings.TrimSuffix(still(t.left(now)), " still"))
}

func eventText(e record.Event) string { return fmt.Sprintf("  %.1fs %s: %s", e.T, e.Kind, e.Message) }

func noneText(c record.Coord, status, why string) string {
	return fmt.Sprintf("%s: %s: %s", cellName(c), status, why)
}

// doneText is how a run ended, with its headline.
func doneText(r *record.Run) string {
	text := fmt.Sprintf("%s after %.1fs", r.Status, r.Seconds)
	if r.Reason != "" && r.Reason != string(r.Status) {
		text += ": " + r.Reason
	}
	if r.Where != "" {
		text += " (" + r.Where + ")"
	}
	m := r.Metrics[""]
	var of []string
	if v, ok := m.Get("req_per_s"); ok {
		of = append(of, plural.Grouped(int64(v+0.5))+" req/s")
	}
	if v, ok := m.Get("p99_ms"); ok {
		of = append(of, "p99 "+milliseconds(v))
	}
	if v, ok := m.Get("failed"); ok {
		of = append(of, plural.Grouped(int64(v))+" failed")
	}
	if len(of) > 0 {
		text += ": " + strings.Join(of, ", ")
	}
	return text
}
