package dsl

import (
	"fmt"
	"strings"
)

// A holeSpan is one ${{ CEL }} in a scalar. All offsets are in runes of the scalar's text.
type holeSpan struct {
	begin, end int    // of the whole, braces included
	text       string // the CEL, without the spaces around it
	start      int    // of text
	inner      string // all between the braces, for messages
}

// scanHoles finds the holes of a text. The error says what is wrong with the one at the returned offset.
func scanHoles(text string) (spans []holeSpan, at int, err error) {
	if !strings.Contains(text, "${{") {
		return nil, 0, nil
	}
	r := []rune(text)
	for i := 0; i+2 < len(r); i++ {
		if r[i] != '$' || r[i+1] != '{' || r[i+2] != '{' {
			continue
		}
		end := closeHole(r, i+3)
		if end < 0 {
			return spans, i, fmt.Errorf("${{ is never closed")
		}
		inner := string(r[i+3 : end])
		trimmed := strings.TrimLeft(inner, " \t\n")
		start := i + 3 + len([]rune(inner)) - len([]rune(trimmed))
		trimmed = strings.TrimRight(trimmed, " \t\n")
		if trimmed == "" {
			return spans, i, fmt.Errorf("${{ }} holds no expression")
		}
		spans = append(spans, holeSpan{begin: i, end: end + 2, text: trimmed, start: start, inner: inner})
		i = end + 1
	}
	return spans, 0, nil
}

// closeHole returns where the }} is that closes a hole whose CEL begins at i, passing strings and balanced braces; -1 if
// there is none.
func closeHole(r []rune, i int) int {
	depth := 0
	for i < len(r) {
		switch r[i] {
		case '"', '\'':
			i = skipString(r, i)
			continue
		case '{':
			depth++
		case '}':
			if depth == 0 {
				if i+1 < len(r) && r[i+1] == '}' {
					return i
				}
				return -1
			}
			depth--
		}
		i++
	}
	return -1
}

// skipString returns the offset after a CEL string that begins at i; the end of the text if it is not closed.
func skipString(r []rune, i int) int {
	q := r[i]
	for i++; i < len(r); i++ {
		switch r[i] {
		case '\\':
			i++
		case q:
			return i + 1
		}
	}
	return i
}

// unbalanced reports whether the brackets of a CEL text do not close, strings passed over.
func unbalanced(text string) bool {
	r := []rune(text)
	var open []rune
	pair := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for i := 0; i < len(r); i++ {
		switch c := r[i]; c {
		case '"', '\'':
			i = skipString(r, i) - 1
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != pair[c] {
				return true
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) > 0
}

// commentAt returns the rune offset of a // comment in a CEL text, or -1.
func commentAt(text string) int {
	r := []rune(text)
	for i := 0; i < len(r); i++ {
		switch {
		case r[i] == '"' || r[i] == '\'':
			i = skipString(r, i) - 1
		case r[i] == '/' && i+1 < len(r) && r[i+1] == '/':
			return i
		}
	}
	return -1
}
