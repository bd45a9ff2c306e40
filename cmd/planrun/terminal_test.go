package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal of so many columns.
func terminal(t *testing.T, columns int) (tty *os.File, read *reader) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	resize(t, tty, columns)
	read = &reader{over: make(chan struct{})}
	go read.all(master)
	return tty, read
}

func resize(t *testing.T, tty *os.File, columns int) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
}

// A reader keeps what was written to a terminal.
type reader struct {
	mu   sync.Mutex
	b    []byte
	over chan struct{}
}

func (r *reader) all(master *os.File) {
	defer close(r.over)
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		r.mu.Lock()
		r.b = append(r.b, buf[:n]...)
		r.mu.Unlock()
		if err != nil { // EIO: the other side was closed
			return
		}
	}
}

func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.b)
}

func (r *reader) until(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(r.text(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal does not show %q, but %q", want, r.text())
		}
	}
}

// rest closes the terminal and gives all that was written to it.
func (r *reader) rest(t *testing.T, tty *os.File) string {
	t.Helper()
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	<-r.over
	return r.text()
}

// screenOf is what a terminal shows after all this: text, line feeds, carriage returns, moves up and erasures to the end. The
// last line is where the cursor is.
func screenOf(raw string) []string {
	lines, row, col := [][]rune{nil}, 0, 0
	for _, part := range regexp.MustCompile("\x1b\\[(\\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]+").FindAllStringSubmatch(raw, -1) {
		switch {
		case part[0] == "\n":
			if row++; row == len(lines) {
				lines = append(lines, nil)
			}
		case part[0] == "\r":
			col = 0
		case part[2] == "A":
			n, _ := strconv.Atoi(part[1]) // digits by the pattern
			row = max(0, row-n)
		case part[2] == "J":
			lines = append(lines[:row:row], lines[row][:min(col, len(lines[row]))])
		case part[2] == "":
			for _, r := range part[0] {
				for len(lines[row]) <= col {
					lines[row] = append(lines[row], ' ')
				}
				lines[row][col] = r
				col++
			}
		}
	}
	var out []string
	for _, l := range lines[:row+1] {
		out = append(out, string(l))
	}
	return out
}
