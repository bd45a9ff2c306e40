package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/planrun/planrun/engine"
)

// A progress shows how a plan goes. Text written to it is a line of its own.
type progress interface {
	engine.Progress
	say(text string)
	dir() string // of the result set; "" if there is none yet
	close()
}

// A place is where the results go, once that is known.
type place struct {
	mu   sync.Mutex
	path string
}

func (p *place) goesTo(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.path = dir
}

func (p *place) dir() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.path
}

// newProgress is a live display where w is a terminal that can do that, and one line an event elsewhere.
func newProgress(w io.Writer, prog *engine.Program) progress {
	if isLive(w) {
		return newLive(w.(*os.File), newTally(prog), os.Getenv("NO_COLOR") == "")
	}
	return newLines(w, newTally(prog))
}

// isLive reports whether w is a terminal that can redraw lines.
func isLive(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// columns is how many columns a terminal has; 0 of anything else.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// capture makes what the engine logs lines of the progress, until the returned function is called.
func capture(p progress) (restore func()) {
	old := slog.Default()
	slog.SetDefault(slog.New(&logHandler{say: p.say}))
	return func() { slog.SetDefault(old) }
}

// A logHandler says warnings and errors in words, their attributes behind them.
type logHandler struct {
	say   func(string)
	attrs string
	group string
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	what := "error"
	if r.Level < slog.LevelError {
		what = "warning"
	}
	text := what + ": " + r.Message + h.attrs
	r.Attrs(func(a slog.Attr) bool { text += h.attr(a); return true })
	h.say(text)
	return nil
}

func (h *logHandler) attr(a slog.Attr) string {
	if a.Equal(slog.Attr{}) {
		return ""
	}
	return fmt.Sprintf(" %s%s=%v", h.group, a.Key, a.Value.Resolve())
}

func (h *logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	n := *h
	for _, a := range as {
		n.attrs += h.attr(a)
	}
	return &n
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	n := *h
	n.group += name + "."
	return &n
}

// indented is a text of several lines as one event: the lines after the first stand to the right of the time.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n         | ")
}

// still says how much time is left, no more exactly than it is known.
func still(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("about %.0fs still", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("about %ds still", int(d.Seconds()/5+0.5)*5)
	}
	return fmt.Sprintf("about %s still", minutes(d))
}

// minutes is a duration in hours and minutes.
func minutes(d time.Duration) string {
	m := int(d.Minutes() + 0.5)
	if m < 60 {
		return fmt.Sprintf("%d min", m)
	}
	return fmt.Sprintf("%d h %02d min", m/60, m%60)
}
