package dsl

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

func parseBool(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	switch strings.ToLower(s) {
	case "yes", "on", "y", "true":
		return false, &hint{fmt.Sprintf("%s is true to some versions of YAML only", quote(s)), "write true"}
	case "no", "off", "n", "false":
		return false, &hint{fmt.Sprintf("%s is false to some versions of YAML only", quote(s)), "write false"}
	}
	return false, errKind
}

var (
	numberRE = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	oddRE    = regexp.MustCompile(`^[-+]?(0[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|0b[01]+|[0-9][0-9_]*_[0-9_]*|[0-9]+(:[0-5]?[0-9])+)$`)
	expRE    = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)
)

// numberTrap says why a plain text is a number that YAML versions read differently; nil if it is none.
func numberTrap(s string) error {
	if oddRE.MatchString(s) || expRE.MatchString(s) {
		h := &hint{fmt.Sprintf("%s is read differently by different versions of YAML", quote(s)), "write a decimal number, or quote it if it is text"}
		if f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil && !strings.ContainsAny(s, "xXoOb") {
			h.do = fmt.Sprintf("write %s, or quote it if it is text", formatNumber(f))
		}
		return h
	}
	return nil
}

func parseNumber(s string) (float64, error) {
	if trap := numberTrap(s); trap != nil {
		return 0, trap
	}
	if !numberRE.MatchString(s) {
		return 0, errKind
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is too large for a number", s)
	}
	return f, nil
}

func parseInt(s string) (int64, error) {
	f, err := parseNumber(s)
	if err != nil {
		return 0, err
	}
	if strings.ContainsAny(s, ".eE") {
		return 0, &hint{fmt.Sprintf("%s is not an integer", s), "write a whole number"}
	}
	return whole(f)
}

// whole makes an integer of a number that is one.
func whole(f float64) (int64, error) {
	if f != math.Trunc(f) || math.IsNaN(f) {
		return 0, &hint{fmt.Sprintf("%s is not an integer", formatNumber(f)), "round it"}
	}
	if math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("%s is too large for an integer", formatNumber(f))
	}
	return int64(f), nil
}

// formatNumber writes a number as short as it can be without an exponent where that is readable.
func formatNumber(f float64) string {
	if a := math.Abs(f); a != 0 && (a >= 1e21 || a < 1e-6) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
