package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// number prints v with three significant digits, and all digits before the point: 0.0123, 7.31, 25,437 (below 1e15). A whole number
// that counts something has no decimals. What is no number prints as "n/a".
func number(v float64, class series.Class) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "n/a"
	case v == 0:
		return "0"
	}
	a := math.Abs(v)
	if a < 100 { // first rounded, then counted: 9.996 is 10.0, not 10.00
		a, _ = strconv.ParseFloat(strconv.FormatFloat(a, 'e', 2, 64), 64)
	}
	switch {
	case v == math.Trunc(v) && a < 1e15 && (class == series.Count || a >= 100):
		return grouped(v)
	case a >= 1e15: // beyond what a float64 tells apart
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a >= 100:
		return grouped(v)
	case a < 1e-4:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(a)+1e-12)), 64)
}

// grouped prints a whole number with commas between thousands.
func grouped(v float64) string { return plural.Grouped(int64(math.Round(v))) }

// factor prints a ratio: three decimals below 10, then as a number.
func factor(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "unbounded"
	case v >= 9.9995 || v < 0.001 && v > 0:
		return number(v, series.Timing)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// percent prints a share of 0 to 1 with enough digits to tell it from 0 and from 1.
func percent(share float64) string {
	if share > 0 && share < 1e-6 {
		return "under 0.0001 %"
	}
	return number(100*share, series.Timing) + " %"
}

// seconds prints a time of a run: 12.3 s.
func seconds(v float64) string { return fmt.Sprintf("%.1f s", v) }

// header is a metric's column title, with its unit if its name does not say it.
func header(name string, d series.Desc) string {
	inName := map[string]string{"ms": "_ms", "req/s": "_per_s", "MiB": "_mib", "KiB": "_kib", "cores": "_cores", "us": "_us", "s": "_s", "%": "_percent"}
	suffix, known := inName[d.Unit]
	if d.Unit == "" || known && strings.Contains(name, suffix) || strings.Contains(strings.ToLower(name), strings.ToLower(d.Unit)) {
		return name
	}
	return name + " (" + d.Unit + ")"
}
