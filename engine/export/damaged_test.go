package export

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// A run whose record cannot be read is told of, and the rest of the set is exported.
func TestDamagedRunIsLeftOut(t *testing.T) {
	for name, export := range map[string]func(io.Writer, *record.Set, *record.Results) error{
		"csv":      func(w io.Writer, s *record.Set, r *record.Results) error { return CSV(w, s, r, Options{Runs: true}) },
		"series":   func(w io.Writer, s *record.Set, _ *record.Results) error { return SeriesCSV(w, s) },
		"junit":    JUnit,
		"benchfmt": func(w io.Writer, s *record.Set, r *record.Results) error { return Benchfmt(w, s, r, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			set, res := fixture(t)
			var whole, rest bytes.Buffer
			if err := export(&whole, set, res); err != nil {
				t.Fatal(err)
			}
			id := res.Cells[0].Runs[0]
			path := set.Path("runs", id, "run.json")
			if err := os.WriteFile(path, []byte("[]\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var told []string
			set.Unread = func(r *record.Run) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, r.ID+": "+r.Reason)
			}
			if err := export(&rest, set, res); err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || !strings.HasPrefix(told[0], id+": its record cannot be read") || !strings.Contains(told[0], path+": it holds JSON of another kind (array)") {
				t.Errorf("told %q", told)
			}
			if n, all := bytes.Count(rest.Bytes(), []byte("\n")), bytes.Count(whole.Bytes(), []byte("\n")); n < all/2 {
				t.Errorf("%d lines are left of %d", n, all)
			}
		})
	}
}
