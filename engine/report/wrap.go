package report

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Wrap breaks a line between words, so that each part of it takes so many columns at most, and indents all parts but the
// first by two. A word that is wider stays whole. Up to 0 columns nothing is broken.
func Wrap(line string, columns int) string {
	if columns <= 0 {
		return line
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		w := runewidth.StringWidth(word)
		switch {
		case i == 0:
		case at+1+w > columns:
			b.WriteString("\n  ")
			at = 2
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}
