package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// live shows on a terminal what goes on now, in three lines that it redraws; what has happened scrolls above them. It
// changes no mode of the terminal, so that nothing has to be put back, however planrun ends.
type live struct {
	engine.Quiet
	place
	bars   *mpb.Progress
	out    *outbox
	bar    *mpb.Bar
	screen *screen
	color  bool

	mu       sync.Mutex
	tally    *tally
	now      func() time.Time
	closed   bool
	what     string // what goes on
	which    string // run 3 of 14
	phase    string
	length   time.Duration // of the phase
	entered  time.Time
	figures  *figures
	rendered [3]string // the frame that is being drawn
}

func newLive(f *os.File, t *tally, color bool) *live {
	l := &live{screen: newScreen(f), color: color, tally: t, now: time.Now, figures: newFigures()}
	l.tally.begin(l.now())
	l.bars = mpb.New(mpb.WithConsoleWriter(l.screen), mpb.WithRefreshRate(200*time.Millisecond))
	l.out = newOutbox(l.bars)
	// The first row is drawn first: it makes the frame of which the others draw their lines.
	row := func(i int, end string) mpb.BarFiller {
		return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
			if i == 0 {
				l.render(stat.AvailableWidth - 1)
			}
			_, err := io.WriteString(w, l.rendered[i]+end)
			return err
		})
	}
	l.bar, _ = l.bars.Add(0, row(0, ""), mpb.BarFillerTrim(), mpb.BarBtmExtender(row(1, "\n"), row(2, "\n"))) // fails only once it is over
	return l
}

// close takes the lines away.
func (l *live) close() {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if !closed {
		l.out.close()
		l.bar.Abort(true)
		l.bars.Wait()
	}
}

// render draws a frame no wider than width columns.
func (l *live) render(width int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, text := range l.frame(l.now(), width) {
		l.rendered[i] = runewidth.Truncate(text, max(1, width), "…")
	}
	l.screen.drew(l.rendered[:])
}

// frame is what is shown at a moment: what goes on, what it measures, and how far the whole is.
func (l *live) frame(now time.Time, width int) (out [3]string) {
	out[0] = l.what
	if l.which != "" {
		out[0] = fmt.Sprintf("%s (%s, %s)", l.what, l.tally.place(), l.which)
	}
	if l.phase != "" {
		out[1] = fmt.Sprintf("%s %.0fs", l.phase, now.Sub(l.entered).Seconds())
		if l.length > 0 {
			out[1] += fmt.Sprintf(" of %v", l.length)
		}
	}
	for _, text := range []string{l.figures.load(), l.figures.cores()} {
		if text != "" {
			out[1] += "  " + text
		}
	}
	out[1] = "  " + strings.TrimSpace(out[1])
	share, rest := l.tally.share(now), still(l.tally.left(now))
	room := min(40, width-len(rest)-10)
	if room > 3 {
		n := int(share * float64(room))
		out[2] = fmt.Sprintf("[%s%s] ", strings.Repeat("=", n), strings.Repeat(" ", room-n))
	}
	out[2] += fmt.Sprintf("%3.0f%%  %s", share*100, rest)
	return out
}

// say writes a line above the frame.
func (l *live) say(text string) {
	l.out.add(l.now().Format("15:04:05") + " " + indented(text) + "\n")
}

// paint colours a text.
func (l *live) paint(color, text string) string {
	if !l.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// The colours, as SGR codes.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
)

// change changes what is shown.
func (l *live) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *live) Begin(dir string, _ time.Duration) {
	var text string
	l.goesTo(dir)
	l.change(func() { l.tally.begin(l.now()); text = beginText(dir, l.tally, l.now()); l.what = "beginning" })
	l.say(text)
}

func (l *live) Install(target string) {
	l.change(func() { l.what, l.which, l.phase, l.figures = "installing "+target, "", "", newFigures() })
}

func (l *live) Run(c record.Coord, _ time.Duration) {
	l.change(func() {
		l.which = l.tally.run(cellName(c))
		l.what, l.phase, l.figures = runName(c), "preparing", newFigures()
		l.entered, l.length = l.now(), 0
	})
}

func (l *live) Phase(_ record.Coord, name string, length time.Duration) {
	l.change(func() { l.phase, l.length, l.entered = name, length, l.now() })
}

func (l *live) Load(_ record.Coord, name string, s load.Sample) {
	l.change(func() { l.figures.sample(name, s) })
}

func (l *live) Point(_ record.Coord, p series.Point) { l.change(func() { l.figures.point(p) }) }

func (l *live) Event(_ record.Coord, e record.Event) {
	if e.Kind == "exit" || e.Kind == "probe" || e.Kind == "abort" {
		l.say(l.paint(yellow, eventText(e)))
	} else if e.Kind != "phase" && e.Kind != "output" {
		l.say(eventText(e))
	}
}

func (l *live) Note(target, text string) { l.say(l.paint(yellow, target+": "+text)) }

func (l *live) Done(r *record.Run) {
	color := red
	switch r.Status {
	case record.Done, record.Aborted:
		color = green
	case record.Unmet, record.Interrupted:
		color = yellow
	}
	l.change(func() { l.tally.done(l.now()); l.phase, l.which = "", ""; l.what = "undoing what the run changed" })
	l.say(runName(r.Coord) + ": " + l.paint(color, doneText(r)))
}

func (l *live) None(c record.Coord, status, why string) {
	l.change(func() { l.tally.none(cellName(c)) })
	l.say(l.paint(yellow, noneText(c, status, why)))
}
