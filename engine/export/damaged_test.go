package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// A run whose record cannot be read is told of, and the rest of the set is exported.
func TestDamagedRunIsLeftOut(t *testing.T) {
	for name, export := range map[string]func(io.Writer, *record.Set, *record.Results) error{
		"csv":      func(w io.Writer, s *record.Set, r *record.Results) error { return CSV(w, s, r, Options{Runs: true}) },
		"series":   func(w io.Writer, s *record.Set, _ *record.Results) error { return SeriesCSV(w, s, nil) },
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

// Where files of samples cannot be read, rows are of what can be: of the others, and of the runs behind it.
func TestUnreadSamplesAreLeftOut(t *testing.T) {
	set, res := fixture(t)
	var whole, rest bytes.Buffer
	if err := SeriesCSV(&whole, set, nil); err != nil {
		t.Fatal(err)
	}
	ids, err := set.RunIDs()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(ids, func(id string) bool { return strings.Contains(id, sampled) })
	first, second := res.Cells[0].Runs[0], ids[at]
	for id, file := range map[string]string{first: "series.jsonl", second: "latency.hlog"} {
		path := set.Path("runs", id, file)
		if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	var untold bytes.Buffer
	if err := SeriesCSV(&untold, set, nil); err != nil {
		t.Errorf("with nobody to tell: %v", err)
	}
	told := map[string]string{}
	if err := SeriesCSV(&rest, set, func(r *record.Run, why error) { told[r.ID] += why.Error() }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || !strings.Contains(told[first], "series.jsonl is no regular file") || !strings.Contains(told[second], "latency.hlog is no regular file") {
		t.Errorf("told %q", told)
	}
	if !bytes.Equal(untold.Bytes(), rest.Bytes()) {
		t.Error("other rows are written where nobody is told")
	}
	rows := func(b *bytes.Buffer) [][]string {
		all, err := csv.NewReader(b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := slices.DeleteFunc(rows(&whole), func(row []string) bool { return slices.Contains([]string{"p50_ms", "p99_ms", "max_ms"}, row[2]) })
	if got := rows(&rest); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the rows are\n%q\nwant\n%q", got, want)
	}
}
