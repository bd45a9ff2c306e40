package diff_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record/recordtest"
)

func TestBesideAnother(t *testing.T) {
	then, now := open(t, "old", one(1000)), open(t, "new", recordtest.Set{Cells: []recordtest.Cell{nginx(2000), func() recordtest.Cell { c := nginx(10); c.Target = "haproxy"; return c }()}})
	b, err := diff.Beside(then, now, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if b.Label != "v1" || len(b.Unmatched) != 1 || !strings.HasSuffix(b.Unmatched[0], "haproxy, only in B: A has no target haproxy") {
		t.Errorf("got %q with unmatched %q", b.Label, b.Unmatched)
	}
	if _, err := diff.Beside(then, then, "v1"); err == nil || !strings.Contains(err.Error(), "the same result set") {
		t.Errorf("a set beside itself: %v", err)
	}
}
