package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// A loadLine is a line of series.jsonl about one second of a load. Its histograms are in latency.hlog, under the tag
// LOAD/PHASE/WHAT and the time At; what a log cannot hold of them is in Hists.
type loadLine struct {
	Load  load.Second         `json:"load"`
	At    *int64              `json:"at,omitempty"` // milliseconds since the start of the run
	Hists map[string]histLine `json:"hist,omitempty"`
}

// A histLine is what latency.hlog does not hold of a histogram: nanoseconds, and how many were above the range.
type histLine struct {
	N    int64 `json:"n"`
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Over int64 `json:"over,omitempty"`
}

// A seriesLine is any line of series.jsonl.
type seriesLine struct {
	series.Point
	Load  *load.Second        `json:"load"`
	At    *int64              `json:"at"`
	Hists map[string]histLine `json:"hist"`
}

// maxLine bounds a line, in bytes; a longer one is left out.
const maxLine = 8 << 20

// notes collects what had to be left out, a few lines for each file.
type notes struct {
	lines []string
	count map[string]int
}

const notesPerFile = 5

func (n *notes) add(file, format string, args ...any) {
	if n.count == nil {
		n.count = map[string]int{}
	}
	n.count[file]++
	if n.count[file] <= notesPerFile {
		n.lines = append(n.lines, file+": "+fmt.Sprintf(format, args...))
	}
}

func (n *notes) all() []string {
	out := n.lines
	for file, count := range n.count {
		if count > notesPerFile {
			out = append(out, fmt.Sprintf("%s: %d more like these", file, count-notesPerFile))
		}
	}
	slices.Sort(out)
	return out
}

// readLines calls take for each whole line of a file. A line that take refuses is noted and left out; a last line
// without its end is noted as torn, because the engine died while it was written. A file that does not exist has no lines.
func readLines(open func(name string) (io.ReadCloser, error), file string, n *notes, take func(line []byte) error) error {
	f, err := open(file)
	if errors.Is(err, fs.ErrNotExist) {
		n.add(file, "the file is missing")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	defer f.Close()
	return scanLines(f, file, n, take)
}

// readers are for files that are read one after another: of a large set thousands are smaller than a reader's buffer.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

func scanLines(r io.Reader, file string, n *notes, take func(line []byte) error) error {
	br := readers.Get().(*bufio.Reader)
	br.Reset(r)
	defer func() { br.Reset(nil); readers.Put(br) }()
	var line []byte
	for number, long := 1, false; ; {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			long, line = true, line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		whole := err == nil
		switch text := bytes.TrimRight(line, "\r\n"); {
		case long:
			n.add(file, "line %d is longer than %d bytes, left out", number, maxLine)
		case len(text) == 0:
		case !whole:
			n.add(file, "the last line is torn (%d bytes), left out", len(text))
		default:
			if err := take(text); err != nil {
				n.add(file, "line %d is left out: %v", number, err)
			}
		}
		if !whole {
			return nil
		}
		line, long = line[:0], false
		number++
	}
}
