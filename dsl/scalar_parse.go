package dsl

import (
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
