package load

import (
	"slices"
	"strings"
	"testing"
)

func TestSpreadPaths(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    []string
		err     string
	}{
		{"/item/{0..3}", []string{"/item/0", "/item/1", "/item/2", "/item/3"}, ""},
		{"/{1..2}/x/{8..9}?q=1", []string{"/1/x/8?q=1", "/1/x/9?q=1", "/2/x/8?q=1", "/2/x/9?q=1"}, ""},
		{"/{08..10}", []string{"/08", "/09", "/10"}, ""},
		{"/{7..7}", []string{"/7"}, ""},
		{"item/{0..3}", nil, "does not begin with /"},
		{"/a b/{0..3}", nil, "cannot stand in a path"},
		{"/item", nil, "has no range"},
		{"/{0..3", nil, "a { without a }"},
		{"/0..3}", nil, "a } without a {"},
		{"/{0..1}}", nil, "a } without a {"},
		{"/{{0..1}}", nil, "is no range"},
		{"/{a..z}", nil, "{a..z} is no range"},
		{"/{-1..3}", nil, "is no range"},
		{"/{0...3}", nil, "is no range"},
		{"/{3..1}", nil, "counts down; write {1..3}"},
		{"/{0..99999999999999999999}", nil, "too large"},
		{"/{0..65536}", nil, "more than 65536 paths"},
		{"/{0..255}/{0..256}", nil, "more than 65536 paths"},
	} {
		got, err := SpreadPaths(c.pattern)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error with %q", c.pattern, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.pattern, got, err, c.want)
		}
	}
	for _, most := range []string{"/{0..65535}", "/{0..255}/{0..255}"} {
		if got, err := SpreadPaths(most); err != nil || len(got) != MaxPaths {
			t.Errorf("%s: %d paths, %v", most, len(got), err)
		}
	}
}
