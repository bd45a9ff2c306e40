package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// maxWidth is the widest part of a source line that is shown, in columns of a terminal.
const maxWidth = 140

// Render prints every problem with the line of its source and a caret under what is wrong:
//
//	plan.yaml:3:9: for: want a duration such as 250ms, have "soon"; write ...
//	    3 |   for: soon
//	      |        ^^^^
//
// Problems whose source is not among sources are printed without it.
func Render(w io.Writer, list List, sources map[string][]byte) error {
	lines := map[string][][]byte{}
	var b bytes.Buffer
	for _, p := range list {
		fmt.Fprintln(&b, p.Error())
		src, ok := sources[p.Pos.File]
		if !ok || !p.Pos.IsValid() {
			continue
		}
		if lines[p.Pos.File] == nil {
			lines[p.Pos.File] = bytes.Split(bytes.TrimPrefix(src, []byte("\ufeff")), []byte("\n"))
		}
		if ls := lines[p.Pos.File]; p.Pos.Line <= len(ls) {
			excerpt(&b, p, strings.TrimSuffix(string(ls[p.Pos.Line-1]), "\r"))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// excerpt prints a source line and the caret below it.
func excerpt(b *bytes.Buffer, p *Problem, line string) {
	runes := []rune(line)
	begin := min(max(p.Pos.Col-1, 0), len(runes))
	end := begin + 1
	if p.End.Line == p.Pos.Line && p.End.Col > p.Pos.Col {
		end = min(p.End.Col-1, max(len(runes), end))
	}
	first, last := window(runes, begin)
	shown := printable(runes[first:last])
	fmt.Fprintf(b, "%5d | %s%s%s\n", p.Pos.Line, dots(first > 0), shown, dots(last < len(runes)))
	fmt.Fprintf(b, "      | %s", strings.Repeat(" ", len(dots(first > 0))))
	for _, r := range printable(runes[first:begin]) {
		if r == '\t' {
			b.WriteByte('\t') // a tab moves to the same stop as in the line above
			continue
		}
		b.WriteString(strings.Repeat(" ", columns(r)))
	}
	carets := 0
	for _, r := range runes[begin:min(end, last)] {
		carets += max(columns(r), 1)
	}
	fmt.Fprintln(b, strings.Repeat("^", max(carets, 1)))
}

// window returns the part of a line to show, so that the rune at begin is in it.
func window(runes []rune, begin int) (first, last int) {
	total := 0
	for _, r := range runes {
		total += columns(r)
	}
	if total <= maxWidth {
		return 0, len(runes)
	}
	first = begin
	for w := 0; first > 0 && w+columns(runes[first-1]) <= maxWidth/2; first-- {
		w += columns(runes[first-1])
	}
	last = first
	for w := 0; last < len(runes) && w+columns(runes[last]) <= maxWidth; last++ {
		w += columns(runes[last])
	}
	return first, last
}

func dots(cut bool) string {
	if cut {
		return "..."
	}
	return ""
}

// printable replaces what would move the cursor, or hide what follows.
func printable(runes []rune) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) || r == '\u202e' || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, string(runes))
}

// columns is how wide a rune is on a terminal.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
