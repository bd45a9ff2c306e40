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
	Damaged []Damage
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

// A Damage is a line that cannot be read. What it says may have to be undone, or was undone already.
type Damage struct {
	Line int // counts from 1
	Text string
	Err  error
}

func (d Damage) Error() string {
	text := d.Text
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return fmt.Sprintf("line %d of %s is damaged (%v), so what it undoes is not known: %q", d.Line, File, d.Err, text)
}

func (d Damage) Unwrap() error { return d.Err }

// Read reads the journal of a result set. A torn last line (its writer was killed in the middle) is left out with a note;
// any other line that cannot be read is in Damaged.
func Read(dir string) (*Log, error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	return parse(b), nil
}

func parse(b []byte) *Log {
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
		b = rest
		l.whole += int64(len(line)) + 1
		var owner Owner
		if err == nil && e.Kind == KindOwner {
			err = json.Unmarshal(e.Data, &owner)
		}
		if err != nil {
			l.Damaged = append(l.Damaged, Damage{n, string(line), err})
			continue
		}
		l.last = max(l.last, e.Seq)
		switch {
		case e.Done:
			l.done[e.Seq] = true
		case e.Kind == KindOwner:
			l.Owner = owner
		default:
			l.Entries = append(l.Entries, e)
		}
	}
	if l.Owner.Token == "" && len(l.Damaged) > 0 {
		l.Owner.Token = l.token()
	}
	return l
}

// token is the one that the entries carry, where the line of the owner is damaged; "" if they do not agree on one.
func (l *Log) token() (token string) {
	for _, e := range l.Entries {
		var d struct{ Token string }
		if json.Unmarshal(e.Data, &d) != nil || d.Token == "" || d.Token == token {
			continue
		}
		if token != "" {
			return ""
		}
		token = d.Token
	}
	return token
}
