package record

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

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
		if decodeBy(newReader().options, run, d.Run) != nil {
			d.Run = &Run{Status: Unfinished}
		}
		for window, metrics := range d.Run.Metrics {
			for name, v := range metrics.All() {
				if got, ok := metrics.Get(name); !ok || got != v {
					t.Errorf("%s/%s is %v, %v by its name", window, name, v, got)
				}
			}
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

// FuzzResults reads any results.json: it never panics, and what it reads can be written and is then read alike.
func FuzzResults(f *testing.F) {
	var b bytes.Buffer
	whole := &Results{Version: Version, Plan: "p", Cells: []Cell{{Runs: []string{"1"}, Metrics: CellWindowsOf(map[string]map[string]Value{"": {"n": {Value: 1, Runs: []float64{1}}}})}}, Verdicts: []Judgement{{Verdict: "v"}}}
	if err := encodeResults(&b, whole); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	for _, text := range []string{"", "null", "[]", "{}", `{"cells":null}`, `{"cells":[{}],"verdicts":[{},7]}`, `{"cells":[{"metrics":{"":{"a\nb":{}}}}],"descs":{}} x`, `{1:2}`} {
		f.Add([]byte(text))
	}
	read := func(text []byte, cells func(*jsontext.Decoder, *[]Cell) error) (*Results, error) {
		return decodeResults(jsontext.NewDecoder(bytes.NewReader(text), newReader().options), cells)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := read(text, decodeCells)
		if _, e := read(text, passOver); err == nil && e != nil {
			t.Errorf("without its cells: %v", e)
		}
		if err != nil {
			return
		}
		var first, again bytes.Buffer
		if err := encodeResults(&first, r); err != nil {
			t.Fatal(err)
		}
		if r, err = read(first.Bytes(), decodeCells); err != nil {
			t.Fatal(err)
		}
		if err := encodeResults(&again, r); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("%v: %s\nis written as %s", err, &first, &again)
		}
	})
}
