// Package diag describes what is wrong with a plan, each problem at its place, and prints it.
//
// Collecting and printing are apart: a [List] is gathered while a plan is read, checked and compiled, and [Render]
// prints it with the source lines.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Pos is a place in a plan file. Line and Col count from 1, in characters; the zero Pos is no place.
type Pos struct {
	File      string
	Line, Col int
}

// IsValid reports whether p is a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

func (p Pos) String() string {
	switch {
	case p.Line == 0 && p.File == "":
		return "-"
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Problem is one thing wrong with a plan.
type Problem struct {
	Pos     Pos
	End     Pos    // just past the end of what is wrong, on the same line; zero: one character
	Msg     string // what is wrong
	Hint    string // what to do about it; may be empty
	Warning bool   // the plan is used all the same
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Pos.String())
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString("; ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// A List is every problem found in one pass.
type List []*Problem

// Addf appends a problem and returns it, so that the caller can add a hint.
func (l *List) Addf(pos Pos, format string, args ...any) *Problem {
	p := &Problem{Pos: pos, Msg: fmt.Sprintf(format, args...)}
	*l = append(*l, p)
	return p
}

// Error prints one problem a line.
func (l List) Error() string {
	var b strings.Builder
	for i, p := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// HasErrors reports whether a problem of the list is more than a warning.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(p *Problem) bool { return !p.Warning })
}

// Err returns l as an error if it holds one that is more than a warning, else nil.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Sort orders the list by file, in the order of files (files that are not named come last, by name), then by place,
// and drops repetitions.
func (l *List) Sort(files []string) {
	rank := func(f string) int {
		if i := slices.Index(files, f); i >= 0 {
			return i
		}
		return len(files)
	}
	slices.SortStableFunc(*l, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(rank(a.Pos.File), rank(b.Pos.File)), cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	seen := map[Problem]bool{}
	*l = slices.DeleteFunc(*l, func(p *Problem) bool {
		k := Problem{Pos: p.Pos, Msg: p.Msg}
		dup := seen[k]
		seen[k] = true
		return dup
	})
}
