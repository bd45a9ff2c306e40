package plural

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n         int
		one, want string
	}{
		{0, "run", "0 runs"}, {1, "run", "1 run"}, {2, "run", "2 runs"}, {1000, "request", "1,000 requests"}, {-1234567, "run", "-1,234,567 runs"},
		{1, "more comparison", "1 more comparison"}, {3, "more comparison", "3 more comparisons"},
		{2, "source address", "2 source addresses"}, {2, "process", "2 processes"}, {2, "matrix", "2 matrixes"}, {2, "branch", "2 branches"},
	} {
		if got := Of(c.n, c.one); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.n, c.one, got, c.want)
		}
	}
	if got := Verb(1, "is", "are") + Verb(0, "is", "are") + Verb(2, "is", "are"); got != "isareare" {
		t.Errorf("verbs %q", got)
	}
	for n, want := range map[int64]string{999: "999", -100: "-100", -1000: "-1,000", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}
