package actions

import (
	"slices"
	"strings"
	"testing"
)

// What is shown of an output is its first lines, whatever is in them.
func TestFirstLines(t *testing.T) {
	wide := strings.Repeat("x", widest-1)
	for _, tc := range []struct {
		text string
		most int
		want []string
	}{
		{"", 3, nil},
		{"a  \n\nb", 3, []string{"a", "", "b"}},
		{"a\nb\nc\n", 2, []string{"a", "b"}},
		{strings.Repeat("y", 100_000) + "\nb\n", 3, []string{strings.Repeat("y", widest), "b"}},
		{wide + "\u00e9\nb\r\n", 3, []string{wide, "b"}},
	} {
		got, err := firstLines(strings.NewReader(tc.text), tc.most)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%.20q: %q, %v", tc.text, got, err)
		}
	}
}
