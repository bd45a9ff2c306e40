package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// tailLines is how many of a log's last lines an error shows.
const tailLines = 10

// A LogReader reads the lines of a log while a process writes it.
type LogReader struct {
	path string
	at   int64
	part []byte // of a line that is not over
}

// NewLogReader reads a log from the given byte on.
func NewLogReader(path string, from int64) *LogReader { return &LogReader{path: path, at: from} }

// Match reports whether a line that was written since the previous call matches, also one that is not over yet.
func (l *LogReader) Match(re *regexp.Regexp) (bool, error) {
	lines, err := l.lines()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(lines, re.MatchString) || len(l.part) > 0 && re.Match(l.part), nil
}

// lines returns the lines that were written since the previous call.
func (l *LogReader) lines() ([]string, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, l.at, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	l.at += int64(len(b))
	l.part = append(l.part, b...)
	var out []string
	for {
		line, rest, whole := bytes.Cut(l.part, []byte("\n"))
		if !whole {
			break
		}
		out = append(out, strings.TrimSuffix(string(line), "\r"))
		l.part = rest
	}
	l.part = bytes.Clone(l.part)
	return out, nil
}

// tail returns the last lines of a log, from the given offset on.
func tail(path string, from int64) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	from = max(from, size-64<<10)
	b, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil {
		return nil
	}
	text := strings.TrimRight(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return lines
}
