package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// plain is a text that every format can carry: invalid UTF-8 becomes U+FFFD, a line ends with \n, and what else XML does not
// allow or steers a terminal is spelled out (\u0000).
func plain(s string) string {
	s = lineEnds.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	if !strings.ContainsFunc(s, unspeakable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unspeakable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func unspeakable(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF
}

// oneLine is plain text with its white space as single spaces. A report also spells out what turns the direction of text, for it
// is read by people; here a name stays what it is, for a program looks for it.
func oneLine(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }

// number is a number with all its digits, as JSON has it: 64273, 0.31, 1e-9.
func number(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Defused is a text that no spreadsheet takes for a formula (https://owasp.org/www-community/attacks/CSV_Injection): before
// what begins like one stands an apostrophe. Before what begins with an apostrophe too, so that whoever takes one away from
// every cell that begins with one has each text as it was.
func Defused(s string) string {
	s = plain(s)
	if s != "" && strings.ContainsRune("=+-@\t\n'＝＋－＠", []rune(s)[0]) {
		return "'" + s
	}
	return s
}
