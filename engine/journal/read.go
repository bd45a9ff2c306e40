package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Log is what a journal says.
type Log struct {
	Owner   Owner  // the last one, should several engines have continued it
	Entries []Line // in the order in which they were written, owners left out
	Notes   []string
	done    map[int]bool
	last    int   // highest seq
	whole   int64 // bytes up to the end of the last whole line
}

// Pending returns the entries that were not undone, in the order in which they were written.
func (l *Log) Pending() []Line {
	var out []Line
	for _, e := range l.Entries {
		if !l.done[e.Seq] {
			out = append(out, e)
		}
	}
	return out
}

// Read reads the journal of a result set. A torn last line (its writer was killed in the middle) is left out with a note;
// any other line that is none is an error with its number.
func Read(dir string) (*Log, error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	return parse(b)
}

func parse(b []byte) (*Log, error) {
	l := &Log{done: map[int]bool{}}
	for n := 1; len(b) > 0; n++ {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		var e Line
		err := json.Unmarshal(line, &e)
		if err == nil && (e.Seq < 1 || e.Kind == "" && !e.Done) {
			err = errors.New("it has no seq, or neither a kind nor a done mark")
		}
		if !whole { // written without its end: the change was not made yet
			l.Notes = append(l.Notes, fmt.Sprintf("journal line %d is torn and was left out", n))
			break
		}
		if err != nil {
			return nil, fmt.Errorf("journal line %d: %w", n, err)
		}
		b = rest
		l.whole += int64(len(line)) + 1
		l.last = max(l.last, e.Seq)
		switch {
		case e.Done:
			l.done[e.Seq] = true
		case e.Kind == KindOwner:
			if err := json.Unmarshal(e.Data, &l.Owner); err != nil {
				return nil, fmt.Errorf("journal line %d: the owner: %w", n, err)
			}
		default:
			l.Entries = append(l.Entries, e)
		}
	}
	return l, nil
}
