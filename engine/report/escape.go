package report

import (
	"fmt"
	"strings"
	"unicode"
)

// visible makes control characters and those that turn the direction of text visible, so that a name can neither steer a
// terminal nor make a line read as another. Line ends become "\n", tabs spaces; invalid UTF-8 becomes U+FFFD.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = lineEnds.Replace(s)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner makes letters and emoji
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Visible is text from outside as every writer must show it: see visible.
func Visible(s string) string { return visible(s) }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ")

// oneLine joins lines with spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// escape makes plain text mean itself in Markdown, inside a line. Underscores within a word (req_per_s) mean themselves.
func escape(s string) string {
	rs := []rune(s)
	word := func(i int) bool {
		return i >= 0 && i < len(rs) && (unicode.IsLetter(rs[i]) || unicode.IsDigit(rs[i]))
	}
	var b strings.Builder
	for i, r := range rs {
		switch r {
		case '_':
			if !word(i-1) || !word(i+1) {
				b.WriteByte('\\')
			}
		case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '$', '&', '#':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// begins escapes what would make the beginning of a line another block: a list item, a heading underline.
func begins(s string) string {
	s = strings.TrimLeft(s, " ")
	if s == "" {
		return s
	}
	switch s[0] {
	case '-', '+', '=', ':':
		return "\\" + s
	}
	digits := strings.TrimLeft(s, "0123456789")
	if n := len(s) - len(digits); n > 0 && digits != "" && (digits[0] == '.' || digits[0] == ')') {
		return s[:n] + "\\" + digits
	}
	return s
}

// codeSpan fences s with more backticks than it holds. In a table a pipe must be escaped even there.
func codeSpan(s string, table bool) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence, pad := strings.Repeat("`", longest+1), ""
	if s[0] == '`' || s[len(s)-1] == '`' {
		pad = " "
	}
	if table {
		s = strings.ReplaceAll(s, "|", "\\|")
	}
	return fence + pad + s + pad + fence
}
