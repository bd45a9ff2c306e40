package load

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxPaths bounds the table that a pattern of paths is expanded into.
const MaxPaths = 65536

// SpreadPaths expands a pattern such as "/item/{0..255}" into its table of paths. A range {A..B} counts from A to B, both
// included; written with leading zeros ({000..255}) its numbers have as many digits. Of several ranges the last one changes
// fastest. The error says what is wrong with a pattern: no range, one that is none, or more than MaxPaths paths.
func SpreadPaths(pattern string) ([]string, error) {
	if !strings.HasPrefix(pattern, "/") {
		return nil, fmt.Errorf("the path %q does not begin with /", pattern)
	}
	if i := strings.IndexFunc(pattern, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
		return nil, fmt.Errorf("%q holds a character that cannot stand in a path (%q)", pattern, pattern[i])
	}
	paths, rest, ranges := []string{""}, pattern, 0
	for {
		before, after, found := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return nil, fmt.Errorf("%q has a } without a {; a brace itself is written %%7B or %%7D", pattern)
		}
		if !found {
			rest = before
			break
		}
		inside, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("%q has a { without a }", pattern)
		}
		first, last, width, err := spreadRange(inside)
		if err != nil {
			return nil, err
		}
		n := last - first + 1
		if n > MaxPaths/len(paths) {
			return nil, fmt.Errorf("%q stands for more than %d paths", pattern, MaxPaths)
		}
		table := make([]string, 0, len(paths)*n)
		for _, p := range paths {
			for i := first; i <= last; i++ {
				table = append(table, fmt.Sprintf("%s%s%0*d", p, before, width, i))
			}
		}
		paths, rest, ranges = table, tail, ranges+1
	}
	if ranges == 0 {
		return nil, fmt.Errorf("%q has no range, such as {0..255}", pattern)
	}
	for i := range paths {
		paths[i] += rest
	}
	return paths, nil
}

// spreadRange reads A..B; width is how many digits each number has at least.
func spreadRange(s string) (first, last, width int, err error) {
	a, b, dots := strings.Cut(s, "..")
	if !dots || !onlyDigits(a) || !onlyDigits(b) {
		return 0, 0, 0, fmt.Errorf("{%s} is no range of whole numbers, such as {0..255}", s)
	}
	first, errA := strconv.Atoi(a)
	last, errB := strconv.Atoi(b)
	if errA != nil || errB != nil || last > 1e15 {
		return 0, 0, 0, fmt.Errorf("{%s} has numbers that are too large", s)
	}
	if last < first {
		return 0, 0, 0, fmt.Errorf("{%s} counts down; write {%s..%s}", s, b, a)
	}
	if len(a) > 1 && a[0] == '0' || len(b) > 1 && b[0] == '0' {
		width = max(len(a), len(b))
	}
	return first, last, width, nil
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
