package export

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// restored takes away the apostrophe that stands before what a spreadsheet might take for a formula.
func restored(s string) string { return strings.TrimPrefix(s, "'") }

func exportCSV(t *testing.T, set *record.Set, res *record.Results, opt Options) (rows []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(&b, set, res, opt); err != nil {
		t.Fatal(err)
	}
	readBack(t, "csv", b.Bytes(), &rows)
	return rows
}

// Every value of results.json comes back from the CSV, as another reader reads it, and nothing else does.
func TestCSVHoldsEveryValue(t *testing.T) {
	set, res := fixture(t)
	rows := exportCSV(t, set, res, Options{Runs: true})
	type key struct{ stage, scenario, target, size, window, metric string }
	got, runs, tainted := map[key]map[string]float64{}, map[key][]float64{}, map[key]string{}
	for _, r := range rows {
		k := key{restored(r["stage"]), restored(r["scenario"]), restored(r["target"]), restored(r["matrix.size"]), restored(r["window"]), r["metric"]}
		v, err := strconv.ParseFloat(r["value"], 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := res.Descs[k.metric].Unit; r["unit"] != want {
			t.Errorf("the unit of %s is %q, want %q", k.metric, r["unit"], want)
		}
		if strings.HasPrefix(r["statistic"], "run") {
			if r["statistic"] != "run"+strconv.Itoa(len(runs[k])+1) && k.metric != "failed" || r["run"] == "" || r["round"] == "" || r["repeat"] == "" {
				t.Errorf("the value of a run does not say which: %v", r)
			}
			runs[k] = append(runs[k], v)
			continue
		}
		if got[k] == nil {
			got[k] = map[string]float64{}
		}
		if _, twice := got[k][r["statistic"]]; twice {
			t.Errorf("%v has its %s twice", k, r["statistic"])
		}
		got[k][r["statistic"]], tainted[k] = v, r["tainted"]
	}
	n := 0
	for _, c := range res.Cells {
		for window, metrics := range c.Metrics {
			for name, v := range metrics.All() {
				n++
				k := key{plain(c.Coord.Stage), plain(c.Coord.Scenario), plain(c.Coord.Target), plain(axis(c.Coord, "size")), plain(window), name}
				want := map[string]float64{string(res.Descs[name].Across): v.Value}
				if len(v.Runs) > 1 {
					want["min"], want["max"] = slices.Min(v.Runs), slices.Max(v.Runs)
				}
				if !maps.Equal(got[k], want) || !slices.Equal(runs[k], v.Runs) || tainted[k] != v.Tainted {
					t.Errorf("%v: %v, runs %v; want %v, runs %v", k, got[k], runs[k], want, v.Runs)
				}
			}
		}
	}
	if n < 36 || len(got) != n {
		t.Errorf("the CSV has %d values, results.json %d", len(got), n)
	}
}

// The first columns are those of published figures, and no cell begins as a formula does.
func TestCSVColumnsAndFormulas(t *testing.T) {
	set, res := fixture(t)
	var b bytes.Buffer
	if err := CSV(&b, set, res, Options{Runs: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "scenario,target,metric,statistic,value,unit,stage,matrix.size,window,round,repeat,run,runs,tainted\n") {
		t.Errorf("it begins with %.100q", b.String())
	}
	var rows []map[string]string
	readBack(t, "csv", b.Bytes(), &rows)
	quoted := 0
	for _, r := range rows {
		for column, cell := range r {
			if column == "value" || cell == "" {
				continue
			}
			if strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) || strings.ContainsRune(cell, 0) {
				t.Errorf("%s is %q", column, cell)
			}
			if strings.HasPrefix(cell, "'=") || strings.HasPrefix(cell, "'-tuned") {
				quoted++
			}
		}
	}
	if quoted == 0 {
		t.Error("no cell was quoted: the test sees nothing")
	}
}

func TestDefused(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a=b": "a=b", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "\ra": "'\na", "＝1": "'＝1", "'a": "''a", "a\x00b": `a\u0000b`, "\xff": "\uFFFD",
	} {
		if got := Defused(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestCSVOptions(t *testing.T) {
	set, res := fixture(t)
	for _, test := range []struct {
		opt  Options
		want []string // WINDOW METRIC
	}{
		{Options{Metrics: []string{"p99_ms"}, Headline: true}, []string{" p99_ms"}},
		{Options{Metrics: []string{"phase/fault 1/2/p99_ms", "failed"}}, []string{" failed", "load/" + plain(hostile) + " failed", "phase/fault 1/2 failed", "phase/fault 1/2 p99_ms"}},
		{Options{Metrics: []string{"nothing"}}, nil},
	} {
		seen := map[string]bool{}
		for _, r := range exportCSV(t, set, res, test.opt) {
			seen[restored(r["window"])+" "+r["metric"]] = true
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, test.want) {
			t.Errorf("%+v exports %q, want %q", test.opt, got, test.want)
		}
	}
}

func TestSeriesCSV(t *testing.T) {
	set, _ := fixture(t)
	var b bytes.Buffer
	if err := SeriesCSV(&b, set, nil); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	readBack(t, "csv", b.Bytes(), &rows)
	var got [][]string
	for _, r := range rows {
		if !strings.Contains(r["run"], sampled) {
			t.Errorf("a row of a run that has no samples: %v", r)
		}
		got = append(got, []string{r["time"], r["series"], r["value"], r["unit"], restored(r["source"]), r["replica"], r["role"], r["label"]})
	}
	name := plain(hostile)
	want := [][]string{
		{"0.5", "rss_mib", "12.5", "MiB", name, "1", "sut", "'=1+1"},
		{"1.5", "own", "-1e-09", "", "", "0", "", ""},
		{"2", "generator_cpu_s", "1", "s", "", "0", "", ""},
		{"2", "events_per_s", "1", "", "", "0", "", ""},
		{"1.25", "requests", "7", "", name, "", "load", "measure"},
		{"1.25", "ok", "4", "", name, "", "load", "measure"},
		{"1.25", "failed", "3", "", name, "", "load", "measure"},
		{"1.25", "p50_ms", "2", "ms", name, "", "load", "measure"},
		{"1.25", "p99_ms", "4", "ms", name, "", "load", "measure"},
		{"1.25", "max_ms", "4", "ms", name, "", "load", "measure"},
	}
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("it has\n%q\nwant\n%q", got, want)
	}
}

// near is equal, but for the 0.1 % by which a histogram may be off.
func near(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool {
		a, errA := strconv.ParseFloat(g, 64)
		b, errB := strconv.ParseFloat(w, 64)
		return g == w || errA == nil && errB == nil && a > b*0.999 && a < b*1.001
	})
}
