package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
)

// lines prints one line an event.
type lines struct {
	engine.Quiet
	mu sync.Mutex
	w  io.Writer
}

type progress interface {
	engine.Progress
	close()
}

func newProgress(w io.Writer) progress { return &lines{w: w} }

func (l *lines) close() {}

func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}

func (l *lines) Begin(dir string, total time.Duration) {
	l.say("results go to %s; about %v without installing", relative(dir), total)
}
func (l *lines) Install(target string) { l.say("installing %s", target) }
func (l *lines) Run(c record.Coord, length time.Duration) {
	l.say("%s/%s/%s run %d.%d (%v)", c.Stage, c.Target, c.Scenario, c.Round, c.Repeat, length)
}
func (l *lines) Event(c record.Coord, e record.Event) {
	if e.Kind != "phase" {
		l.say("  %.1fs %s: %s", e.T, e.Kind, e.Message)
	}
}
func (l *lines) Note(target, text string) { l.say("%s: %s", target, text) }
func (l *lines) Done(r *record.Run)       { l.say("  %s %s", r.Status, r.Reason) }
func (l *lines) None(c record.Coord, status, why string) {
	l.say("%s/%s/%s %s: %s", c.Stage, c.Target, c.Scenario, status, why)
}
