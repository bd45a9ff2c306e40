// Package journal keeps what would undo each change that a plan run makes to its surroundings, so that another process
// can undo it after this one was killed.
//
// The file journal.jsonl of a result set holds one JSON object a line. A line with a kind is an entry: it was written and
// synced before the change that its data undoes. A line with done takes the entry of the same seq back: the change was
// undone. The first entry is the owner: the engine that writes the journal, which also holds a lock on the file for as
// long as it lives.
//
// Entries are undone last-in-first-out, each with a time budget of its own that no interrupted run can cut short, and one
// that fails keeps none of the others from being undone. An entry may describe a change that was never made (the engine
// was killed between the two), so every undo must be harmless then.
//
// A line that cannot be read (a disk that lost a block) keeps none of the others from being undone; it is named, for only a
// human can tell what it was about.
//
// A Scope groups the entries of one installation or one run, which are undone together while others stay.
package journal

import (
	"encoding/json"
	"fmt"
	"time"
)

// File is the name of the journal in a result set.
const File = "journal.jsonl"

// KindOwner is the kind of the entry that says who writes the journal. It undoes nothing.
const KindOwner = "owner"

// A Line is one line of the journal.
type Line struct {
	Seq   int             `json:"seq"` // counts from 1
	Kind  string          `json:"kind,omitempty"`
	Scope int             `json:"scope,omitempty"` // 0 is the journal itself
	Data  json.RawMessage `json:"data,omitempty"`
	Done  bool            `json:"done,omitempty"` // the entry of this seq was undone
	T     time.Time       `json:"t"`
}

// An Owner is the engine that writes a journal.
type Owner struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // its start time, in clock ticks since boot
	Boot  string `json:"boot"`  // id of the boot
	Token string `json:"token"` // of the result set
}

// A Failure is an entry that could not be undone.
type Failure struct {
	Line  Line
	About string // what it was about, in words
	Err   error
}

func (f Failure) Error() string {
	return fmt.Sprintf("undoing entry %d (%s): %v", f.Line.Seq, f.About, f.Err)
}

func (f Failure) Unwrap() error { return f.Err }

// OwnedError says that the engine that owns a result set still lives.
type OwnedError struct {
	Dir string
	PID int // 0 if it is not known
}

func (e *OwnedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another planrun; end that first", e.Dir)
	}
	return fmt.Sprintf("%s is in use by the planrun with process id %d; end that first", e.Dir, e.PID)
}
