package html

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planrun/planrun/engine/report"
)

// What a finding may have in one piece.
const (
	longItem   = 190 // letters from which an item is taken apart
	shownParts = 6   // beyond which parts are folded away, unless there are only a few more
	fewParts   = 2
)

// A led item is a long one taken apart: what it says, then the parts that say it in detail.
type led struct {
	Lead          report.Text
	Shown, Folded []report.Text
}

// leads takes a long item apart: its lead goes to the first colon, its parts end with semicolons and sentences, but not
// within parentheses, quotes or code. nil of an item that is short or has one part.
func leads(t report.Text) *led {
	n := 0
	for _, s := range t {
		n += utf8.RuneCountInString(s.Text)
	}
	if n < longItem {
		return nil
	}
	parts := pieces(t)
	if len(parts) < 2 {
		return nil
	}
	k := 1 + shownParts
	if len(parts) <= k+fewParts {
		k = len(parts)
	}
	return &led{Lead: parts[0], Shown: parts[1:k], Folded: parts[k:]}
}

// pieces are the lead of a text and its parts. The spans keep their styles.
func pieces(t report.Text) (out []report.Text) {
	var now report.Text
	end := func() {
		if n := len(now); n > 1 && now[n-1].Text == "." && now[n-2].Rest != nil { // behind the opened fold it would stand alone
			now = now[:n-1]
		}
		if slices.ContainsFunc(now, func(s report.Span) bool { return s.Note > 0 || strings.TrimSpace(s.Text) != "" }) {
			out = append(out, now)
		}
		now = nil
	}
	depth := 0
	for _, s := range t {
		if s.Note > 0 || s.Style != report.Plain || s.Rest != nil {
			now = append(now, s)
			continue
		}
		rest := s.Text
		for i := 0; i < len(rest); {
			r, size := utf8.DecodeRuneInString(rest[i:])
			i += size
			switch r {
			case '(', '[', '\u201c':
				depth++
			case ')', ']', '\u201d':
				depth = max(0, depth-1)
			}
			if depth > 0 || !strings.HasPrefix(rest[i:], " ") {
				continue
			}
			next, _ := utf8.DecodeRuneInString(rest[i+1:])
			switch {
			case r == ':' && len(out) == 0, r == ';', r == '.' && unicode.IsUpper(next):
				piece := rest[:i]
				if r == ';' {
					piece = rest[:i-1]
				}
				now = append(now, report.Span{Text: piece})
				end()
				rest, i = rest[i+1:], 0
			}
		}
		if rest != "" {
			now = append(now, report.Span{Text: rest})
		}
	}
	end()
	return out
}
