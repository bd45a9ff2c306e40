package record

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// FuzzData reads a run of arbitrary files: it never panics, and gives nothing that is undefined.
func FuzzData(f *testing.F) {
	s, err := Create(CreateOptions{Plan: "p", Root: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	run := newRun()
	w, err := s.StartRun(run, WriterOptions{})
	if err != nil {
		f.Fatal(err)
	}
	w.Points(series.Point{T: 1, Series: "n", V: 1})
	w.Seconds(load.Second{Load: "small/1", Phase: "measure", Second: 1, Latency: hist(1e6), Counts: load.Counts{Due: 1, OK: 1}})
	w.Event(Event{T: 1, Kind: "note", Fields: map[string]any{"a": 1.0}})
	if err := w.Finish(run); err != nil {
		f.Fatal(err)
	}
	files := []string{"run.json", "series.jsonl", "latency.hlog", "events.jsonl"}
	var whole [4][]byte
	for i, name := range files {
		if whole[i], err = os.ReadFile(filepath.Join(w.Dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(whole[0], whole[1], whole[2], whole[3])
	f.Add([]byte(`{"status":"unfinished","phases":[{"name":"a"},{"name":"b","start":2}]}`), []byte(`{"t":1e308,"s":"x","v":-1e308}`+"\n"), []byte("Tag=,,,\n"), []byte("{}\n"))
	f.Add([]byte("{}"), []byte(`{"load":{"load":"l","phase":"p","second":-9},"at":-9000,"hist":{"latency":{"n":9}}}`+"\n"), []byte("Tag=l/p/latency,-9,1,1,HISTFAAAAA==\n"), []byte("null\n"))
	f.Fuzz(func(t *testing.T, run, series, hlog, events []byte) {
		d := &Data{Run: new(Run)}
		if json.Unmarshal(run, d.Run) != nil {
			d.Run = &Run{Status: Unfinished}
		}
		open := func(name string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(map[string][]byte{files[1]: series, files[2]: hlog, files[3]: events}[name])), nil
		}
		if err := d.read(open, Everything); err != nil {
			t.Fatal(err)
		}
		if d.Run.Status == Unfinished {
			closePhases(d)
		}
		for _, p := range d.Points {
			if !finite(p.T) || !finite(p.V) || p.Series == "" {
				t.Errorf("point %+v", p)
			}
		}
		for i, sec := range d.Seconds {
			if q := sec.Latency.Count(); q > 0 && math.IsNaN(sec.Latency.Quantile(0.99)) {
				t.Errorf("second %d: %d latencies without a quantile", i, q)
			}
		}
	})
}
