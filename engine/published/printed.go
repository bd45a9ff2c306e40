package published

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Printed is a number as it was printed. It stands for every number from Low to High, which are half a unit of its last
// digit away.
type Printed struct {
	Text  string
	Value float64
	half  float64
}

// Low is the least number that is printed like this.
func (p Printed) Low() float64 { return p.Value - p.half }

// High is the greatest number that is printed like this.
func (p Printed) High() float64 { return p.Value + p.half }

// exact is the number itself: a count has nothing behind its last digit.
func (p Printed) exact() Printed {
	if p.Value == math.Trunc(p.Value) {
		p.half = 0
	}
	return p
}

// parse reads a number, or says why it is none and what to do.
func (p *Printed) parse(s string) (why, hint string) {
	v, err := strconv.ParseFloat(s, 64)
	switch lower := strings.ToLower(strings.Trim(s, "+-")); {
	case number.MatchString(s) && err == nil && !math.IsInf(v, 0):
		*p = Printed{Text: s, Value: v, half: unit(s) / 2}
		return "", ""
	case number.MatchString(s):
		return fmt.Sprintf("%s is out of range", s), "a figure is a number of at most 1.8e308"
	case s == "" || lower == "nan" || lower == "n/a" || lower == "na" || lower == "null" || lower == "":
		return fmt.Sprintf("%q is no figure", s), "leave the line out: what is not there is n/a"
	case strings.HasPrefix(lower, "inf"):
		return fmt.Sprintf("%q is no figure", s), "leave the line out: what has no bound is n/a"
	case commas.MatchString(s):
		return fmt.Sprintf("want a number, have %q", s), "write it without separators: " + strings.Map(func(r rune) rune {
			if strings.ContainsRune(",_' ", r) {
				return -1
			}
			return r
		}, s)
	case strings.Count(s, ",") == 1 && number.MatchString(strings.Replace(s, ",", ".", 1)):
		return fmt.Sprintf("want a number, have %q", s), "write it with a decimal point: " + strings.Replace(s, ",", ".", 1)
	case withUnit.MatchString(s):
		return fmt.Sprintf("want a number, have %q", s), "write the number alone, in the unit of the metric"
	}
	return fmt.Sprintf("want a number, have %q", s), "write it like 64273, 1.56 or 2e6"
}

// unit is what one more in the last digit of a number is.
func unit(s string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)                          // none is 0
	return math.Pow(10, float64(min(e, 300)-len(decimals))) // of 0e999 too
}
