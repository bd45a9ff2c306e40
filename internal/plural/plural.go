// Package plural says how many there are of something.
package plural

import (
	"strconv"
	"strings"
)

// Of says n of something: "1 run", "1,000 runs", "2 passes". One may be of several words, of which the last is counted:
// "more run".
func Of(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(int64(n)) + " " + several(one)
}

// Verb is the form of a verb that goes with n: one with 1, more with any other number.
func Verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Grouped prints a whole number with commas between thousands.
func Grouped(n int64) string {
	s, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// several is a word for more than one of it.
func several(one string) string {
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(one, end) {
			return one + "es"
		}
	}
	return one + "s"
}
