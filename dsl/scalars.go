package dsl

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A codec reads one type of scalar.
type codec struct {
	want    string // in words, for messages
	pattern string // of the text, for the schema; empty: jsonType says it
	json    string // "integer", "number", "boolean", "string"
	plain   bool   // a quoted text is not one
	parse   func(text string) (any, error)
	number  func(float64) (any, error) // of a number in the base unit; nil: a number is read as its text
}

// A hint is an error of a scalar that says what to do.
type hint struct{ msg, do string }

func (h *hint) Error() string { return h.msg }

var codecs = map[reflect.Type]*codec{
	reflect.TypeFor[time.Duration](): {want: "a duration such as 250ms or 1m30s", json: "string", pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`,
		parse: func(s string) (any, error) { return parseDuration(s) }, number: func(f float64) (any, error) { return seconds(f) }},
	reflect.TypeFor[Size](): {want: "a size such as 64KiB", json: "string", pattern: `^[0-9]+(\.[0-9]+)?([kKMGT]i?)?B$`,
		parse: func(s string) (any, error) { return parseSize(s) }, number: func(f float64) (any, error) { n, err := whole(f); return Size(n), err }},
	reflect.TypeFor[ByteRate](): {want: "a byte rate such as 4KiB/s", json: "string", pattern: `^[0-9]+(\.[0-9]+)?([kKMGT]i?)?B/s$`,
		parse: func(s string) (any, error) { return parseByteRate(s) }, number: func(f float64) (any, error) { return ByteRate(f), nil }},
	reflect.TypeFor[Rate](): {want: "a rate such as 200/s", json: "string", pattern: `^[0-9]+(\.[0-9]+)?/(s|m|h)$`,
		parse: func(s string) (any, error) { return parseRate(s) }, number: func(f float64) (any, error) { return Rate(f), nil }},
	reflect.TypeFor[Percent](): {want: "a percentage such as 2%", json: "string", pattern: `^-?[0-9]+(\.[0-9]+)?%$`,
		parse: func(s string) (any, error) { return parsePercent(s) }, number: func(f float64) (any, error) { return Percent(f), nil }},
	reflect.TypeFor[At](): {want: "a moment such as 2s or 40%", json: "string", pattern: `^([0-9]+(\.[0-9]+)?%|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`,
		parse: func(s string) (any, error) { return parseAt(s) }, number: func(f float64) (any, error) { d, err := seconds(f); return At{Duration: d}, err }},
	reflect.TypeFor[CPUs](): {want: "a list of CPUs such as 0-7,16-23", json: "string", pattern: `^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`,
		parse: func(s string) (any, error) { return parseCPUs(s) }, number: func(f float64) (any, error) { n, err := whole(f); return CPUs{int(n)}, err }},
	reflect.TypeFor[Address](): {want: "an address such as 127.0.0.1:80 or [::1]:80", json: "string", pattern: `^(\[[0-9A-Fa-f:.%]+\]|[^\[\]:/ ]+):[0-9]+$`,
		parse: func(s string) (any, error) { return parseAddress(s) }},
	reflect.TypeFor[Ident](): {want: "a name such as web_1", json: "string", pattern: identPattern,
		parse: func(s string) (any, error) { return Ident(s), checkIdent(s) }},
	reflect.TypeFor[bool](): {want: "true or false", json: "boolean", plain: true, parse: func(s string) (any, error) { return parseBool(s) }},
	reflect.TypeFor[int](): {want: "an integer", json: "integer", plain: true,
		parse: func(s string) (any, error) { n, err := parseInt(s); return int(n), err }, number: func(f float64) (any, error) { n, err := whole(f); return int(n), err }},
	reflect.TypeFor[int64](): {want: "an integer", json: "integer", plain: true,
		parse: func(s string) (any, error) { return parseInt(s) }, number: func(f float64) (any, error) { return whole(f) }},
	reflect.TypeFor[float64](): {want: "a number", json: "number", plain: true,
		parse: func(s string) (any, error) { return parseNumber(s) }, number: func(f float64) (any, error) { return f, nil }},
	reflect.TypeFor[string](): {want: "a text", json: "string", parse: func(s string) (any, error) { return s, nil }},
}

// codecOf returns the codec of a type, or nil if it is no scalar.
func codecOf(t reflect.Type) *codec {
	if c := codecs[t]; c != nil {
		return c
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &codec{want: "a " + strings.ToLower(t.Name()), json: "string", parse: func(s string) (any, error) {
			v := reflect.New(t)
			err := v.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
			return v.Elem().Interface(), err
		}}
	}
	switch t.Kind() {
	case reflect.String:
		return codecs[reflect.TypeFor[string]()]
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return codecs[reflect.TypeFor[int64]()]
	case reflect.Float64, reflect.Float32:
		return codecs[reflect.TypeFor[float64]()]
	case reflect.Bool:
		return codecs[reflect.TypeFor[bool]()]
	}
	return nil
}

var errKind = errors.New("wrong type")

func parseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, &hint{fmt.Sprintf("%s has no unit", quote(s)), fmt.Sprintf("write %ss or %sms", s, s)}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errKind
	}
	return d, nil
}

func seconds(f float64) (time.Duration, error) {
	if ns := f * 1e9; math.Abs(ns) < math.MaxInt64 {
		return time.Duration(math.Round(ns)), nil
	}
	return 0, fmt.Errorf("%s seconds is no duration", formatNumber(f))
}

var units = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"ki": 1 << 10, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

var sizeRE = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([kKMGT]i?)?B?$`)

func parseBytes(s string) (float64, error) {
	m := sizeRE.FindStringSubmatch(s)
	if m == nil {
		return 0, errKind
	}
	if m[2] != "" && !strings.HasSuffix(s, "B") {
		return 0, &hint{fmt.Sprintf("%s does not say which thousand", quote(s)), fmt.Sprintf("write %s%siB (1024) or %s%sB (1000)", m[1], strings.ToUpper(m[2][:1]), m[1], m[2][:1])}
	}
	f, err := strconv.ParseFloat(m[1], 64)
	return f * units[m[2]], err
}

func parseSize(s string) (Size, error) {
	f, err := parseBytes(s)
	if err != nil {
		return 0, err
	}
	if trap := numberTrap(s); trap != nil {
		return 0, trap
	}
	n, err := whole(f)
	return Size(n), err
}

func parseByteRate(s string) (ByteRate, error) {
	b, ok := strings.CutSuffix(s, "/s")
	if !ok {
		if _, err := parseBytes(s); err == nil {
			return 0, &hint{fmt.Sprintf("%s is a size, not a rate", quote(s)), fmt.Sprintf("write %s/s", s)}
		}
		return 0, errKind
	}
	if !strings.HasSuffix(b, "B") {
		return 0, errKind
	}
	f, err := parseBytes(b)
	return ByteRate(f), err
}

func parseRate(s string) (Rate, error) {
	n, per, has := strings.Cut(s, "/")
	f, err := parseNumber(n)
	if err != nil {
		return 0, err
	}
	switch {
	case !has || per == "s":
	case per == "m":
		f /= 60
	case per == "h":
		f /= 3600
	default:
		return 0, errKind
	}
	return Rate(f), nil
}

func parsePercent(s string) (Percent, error) {
	n, ok := strings.CutSuffix(s, "%")
	if !ok {
		if _, err := parseNumber(s); err == nil {
			return 0, &hint{fmt.Sprintf("%s has no unit", quote(s)), fmt.Sprintf("write %s%%", s)}
		}
		return 0, errKind
	}
	f, err := parseNumber(n)
	return Percent(f / 100), err
}

func parseAt(s string) (At, error) {
	if strings.HasSuffix(s, "%") {
		p, err := parsePercent(s)
		if err == nil && (p < 0 || p > 1) {
			err = fmt.Errorf("%s is outside of the phase", s)
		}
		return At{Percent: p, IsPercent: true}, err
	}
	d, err := parseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is before the phase", s)
	}
	return At{Duration: d}, err
}

func parseCPUs(s string) (CPUs, error) {
	var out CPUs
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(lo, 10, 16)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(hi, 10, 16)
		}
		if err != nil {
			return nil, errKind
		}
		if b < a {
			return nil, fmt.Errorf("the range %s goes backwards", part)
		}
		for c := a; c <= b; c++ {
			out = append(out, int(c))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (c CPUs) String() string {
	var parts []string
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", c[i], c[j]))
		} else {
			parts = append(parts, strconv.Itoa(c[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func parseAddress(s string) (Address, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
			return "", &hint{fmt.Sprintf("%s is ambiguous", quote(s)), "write the IPv6 address in brackets: [::1]:80"}
		}
		return "", errKind
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/ ") {
		return "", errKind
	}
	if strings.HasPrefix(s, "[") && net.ParseIP(strings.SplitN(host, "%", 2)[0]) == nil {
		return "", errKind
	}
	return Address(s), nil
}

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

const identPattern = `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`

var identRE = regexp.MustCompile(identPattern)

// reserved are CEL's reserved words and literals.
var reserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while")

func checkIdent(s string) error {
	if slices.Contains(reserved, s) {
		return &hint{fmt.Sprintf("%s is a word of the expression language", quote(s)), "choose another name"}
	}
	if !identRE.MatchString(s) {
		fixed := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(s), "_"), "_0123456789")
		h := &hint{fmt.Sprintf("%s cannot be a name in expressions", quote(s)), "use small letters, digits and single underscores"}
		if identRE.MatchString(fixed) {
			h.do += ": " + fixed
		}
		return h
	}
	return nil
}
