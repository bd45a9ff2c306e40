package dsl

import (
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl/diag"
)

// A source is one file, or one --set value, as it was read.
type source struct {
	name  string // as positions show it
	dir   string // relative paths in it resolve here
	bytes []byte

	once  sync.Once // for what follows, which is made when first needed
	runes []rune    // without a byte order mark
	lines []int     // offset in runes of each line's first character
}

func newSource(name, dir string, b []byte) *source { return &source{name: name, dir: dir, bytes: b} }

func (s *source) index() {
	s.once.Do(func() {
		s.runes = []rune(strings.TrimPrefix(string(s.bytes), "\ufeff"))
		s.lines = []int{0}
		for i, r := range s.runes {
			if r == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	})
}

// at returns the place of a rune of the source.
func (s *source) at(offset int) diag.Pos {
	l := sort.SearchInts(s.lines, offset+1)
	return diag.Pos{File: s.name, Line: l, Col: offset - s.lines[l-1] + 1}
}

// line returns the text of a line, counted from 1, or "".
func (s *source) line(n int) string {
	s.index()
	if n < 1 || n > len(s.lines) {
		return ""
	}
	end := len(s.runes)
	if n < len(s.lines) {
		end = s.lines[n] - 1
	}
	return strings.TrimSuffix(string(s.runes[s.lines[n-1]:end]), "\r")
}

// resolve makes a path that the source wrote independent of the source.
func (s *source) resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, path)
}

// An aligner walks a scalar's value and its source side by side, to find where each rune of the value was written.
type aligner struct {
	src    []rune
	i      int // where in src
	indent int // of a block scalar; negative: leading blanks never belong to the value
}

func (a *aligner) at(k int) rune {
	if k < len(a.src) {
		return a.src[k]
	}
	return 0
}

func blank(r rune) bool { return r == ' ' || r == '\t' }

func (a *aligner) skipIndent() {
	for k := 0; (a.indent < 0 || k < a.indent) && blank(a.at(a.i)); k++ {
		a.i++
	}
}

// skipProperties passes an anchor and a tag, which come before the scalar.
func (a *aligner) skipProperties() {
	for a.at(a.i) == '&' || a.at(a.i) == '!' {
		for a.i < len(a.src) && !blank(a.at(a.i)) && a.at(a.i) != '\n' {
			a.i++
		}
		for blank(a.at(a.i)) || a.at(a.i) == '\n' || a.at(a.i) == '\r' {
			a.i++
		}
	}
}

// enterBlock passes the header of a block scalar and finds its indentation.
func (a *aligner) enterBlock(value string) {
	for a.i < len(a.src) && a.at(a.i) != '\n' {
		a.i++
	}
	a.i++
	raw, k := 0, a.i
	for k < len(a.src) {
		raw = 0
		for a.at(k) == ' ' {
			raw++
			k++
		}
		if a.at(k) != '\n' && a.at(k) != '\r' {
			break
		}
		k++
	}
	// The first line's blanks beyond the indentation are part of the value.
	lead := strings.TrimLeft(value, "\n")
	a.indent = max(raw-(len(lead)-len(strings.TrimLeft(lead, " "))), 0)
	a.skipIndent()
}

// align returns, for every rune of the value and one past its end, its offset in the source; false if the two do not
// fit, in which case only the scalar's own place is known.
func align(src []rune, start int, value string, style yaml.Style) ([]int, bool) {
	a := &aligner{src: src, i: start, indent: -1}
	block := style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	double, single := style&yaml.DoubleQuotedStyle != 0, style&yaml.SingleQuotedStyle != 0
	a.skipProperties()
	switch {
	case block:
		a.enterBlock(value)
	case double || single:
		a.i++
	}
	v := []rune(value)
	pos := make([]int, 0, len(v)+1)
	for j := 0; j < len(v); {
		if br, next, ok := a.lineBreak(block); ok && (v[j] == ' ' || v[j] == '\n') {
			a.i = next
			if v[j] == ' ' {
				pos, j = append(pos, br), j+1
			} else {
				for j < len(v) && v[j] == '\n' {
					pos, j = append(pos, br), j+1
				}
			}
			a.skipIndent()
			continue
		}
		switch c := a.at(a.i); {
		case double && c == '\\':
			if n := a.at(a.i + 1); n == '\n' || n == '\r' { // an escaped break is nothing in the value
				if a.i += 2; n == '\r' {
					a.i++
				}
				a.skipIndent()
				continue
			}
			pos, j = append(pos, a.i), j+1
			a.i += escapeLen(a.at(a.i + 1))
		case single && c == '\'' && a.at(a.i+1) == '\'' && v[j] == '\'':
			pos, j = append(pos, a.i), j+1
			a.i += 2
		case a.i < len(src) && c == v[j]:
			pos, j = append(pos, a.i), j+1
			a.i++
		default:
			return nil, false
		}
	}
	return append(pos, min(a.i, len(src))), true
}

// escapeLen is the length of an escape in a double-quoted scalar, by the letter after the backslash.
func escapeLen(letter rune) int {
	switch letter {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}

// lineBreak reports whether the source breaks the line here (after trailing blanks, unless in a block), where, and where
// the next line that is not blank begins.
func (a *aligner) lineBreak(block bool) (br, next int, ok bool) {
	k := a.i
	if !block {
		for blank(a.at(k)) {
			k++
		}
	}
	if a.at(k) == '\r' {
		k++
	}
	if k >= len(a.src) || a.at(k) != '\n' {
		return 0, 0, false
	}
	next = k + 1
	for {
		m := next
		for blank(a.at(m)) {
			m++
		}
		if a.at(m) == '\r' {
			m++
		}
		if m >= len(a.src) || a.at(m) != '\n' {
			return k, next, true
		}
		next = m + 1
	}
}
