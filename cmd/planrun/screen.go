package main

import (
	"fmt"
	"os"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/cupwriter"
)

// A screen redraws lines at the bottom of a terminal, also of one that has become narrower since they were drawn: its
// lines were wrapped then, so that there are more rows to take away than there were lines.
type screen struct {
	*cupwriter.Writer
	file  *os.File
	width int   // of the terminal when the frame was drawn
	shown []int // widths of the lines of the frame on the screen
	next  []int // of the one that is being drawn
	now   int   // width of the terminal
}

func newScreen(f *os.File) *screen { return &screen{Writer: cupwriter.New(f, true), file: f} }

// GetTermSize gives columns and rows.
func (s *screen) GetTermSize() (width, height int, err error) {
	width, height, err = s.Writer.GetTermSize()
	s.now = width
	return
}

// drew notes the lines of the frame that the next Flush writes.
func (s *screen) drew(lines []string) {
	s.next = s.next[:0]
	for _, l := range lines {
		s.next = append(s.next, runewidth.StringWidth(l))
	}
}

// Flush writes the frame in the place of the one before.
func (s *screen) Flush(lines int) error {
	begin := "\r" // what is typed (^C) is echoed behind the frame
	if n := wrapped(s.shown, s.width, s.now); n > 0 {
		begin += fmt.Sprintf("\x1b[%dA", n)
	}
	if _, err := s.file.WriteString(begin); err != nil {
		return err
	}
	s.width, s.shown = s.now, append(s.shown[:0], s.next...)
	if lines == 0 {
		s.shown = nil
	}
	return s.Writer.Flush(lines)
}

// wrapped is how many rows more lines of these widths take on a terminal that was narrowed from old to now columns.
func wrapped(widths []int, old, now int) (extra int) {
	if now <= 0 || now >= old {
		return 0
	}
	for _, w := range widths {
		extra += max(0, w-1) / now
	}
	return extra
}
