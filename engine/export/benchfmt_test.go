package export

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
)

func exportBenchfmt(t *testing.T, set *record.Set, res *record.Results, opt Options) (b bytes.Buffer) {
	t.Helper()
	if err := Benchfmt(&b, set, res, opt); err != nil {
		t.Fatal(err)
	}
	return b
}

// The format's own reader has every value of every run, and knows which direction is better.
func TestBenchfmtHoldsEveryRun(t *testing.T) {
	set, res := fixture(t)
	out := exportBenchfmt(t, set, res, Options{})
	type key struct{ name, unit string }
	got := map[key][]float64{}
	r := benchfmt.NewReader(&out, "export")
	for r.Scan() {
		switch x := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(x)
		case *benchfmt.Result:
			if x.GetConfig("pkg") != "synthetic v1.2" || x.GetConfig("cpu") != "Example CPU" || x.GetConfig("cpus") != "4" || x.GetConfig("kernel") != "6.1.0 #1" {
				t.Errorf("it has the configuration %+v", x.Config)
			}
			for _, v := range x.Values {
				got[key{x.Name.String(), v.Unit}] = append(got[key{x.Name.String(), v.Unit}], v.Value)
			}
			if n, ok := x.Value("requests"); ok && n >= 1 && n < math.MaxInt32 && x.Iters != int(n) {
				t.Errorf("%s has %d iterations of %v requests", x.Name, x.Iters, n)
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range res.Cells {
		for window, metrics := range c.Metrics {
			for name, v := range metrics.All() {
				n++
				if k := (key{benchName(c.Coord, window), name}); !slices.Equal(got[k], v.Runs) {
					t.Errorf("%v has %v, want %v", k, got[k], v.Runs)
				}
			}
		}
	}
	if len(got) != n || n == 0 {
		t.Errorf("it has %d values of cells, want %d", len(got), n)
	}
	for unit, want := range map[string]int{"p99_ms": -1, "req_per_s": 1, "requests": 0} {
		if b := r.Units().GetBetter(unit); b != want {
			t.Errorf("%s is better by %d, want %d", unit, b, want)
		}
	}
}

func TestBenchNames(t *testing.T) {
	for _, test := range []struct {
		at     record.Coord
		window string
		want   string
	}{
		{record.Coord{Scenario: "h1-small", Target: "nginx", Stage: "throughput", Round: 2, Repeat: 3}, "", "H1-small/stage=throughput/target=nginx"},
		{record.Coord{Scenario: "h1", Target: "nginx-2", Matrix: []record.Axis{{Name: "size", Value: "4k"}}}, "phase/fault", "H1/size=4k/window=phase%2Ffault/target=nginx-2/"},
		{record.Coord{Scenario: "404s", Target: "a b/c%\n"}, "", "X404s/target=a%20b%2Fc%25%0A"},
		{record.Coord{Scenario: "über", Target: "雪\u00a0"}, "", "Über/target=雪%C2%A0"},
	} {
		got := benchName(test.at, test.window)
		if got != test.want {
			t.Errorf("%+v is %s, want %s", test.at, got, test.want)
		}
		if _, parts := benchfmt.Name(got).Parts(); slices.ContainsFunc(parts, func(p []byte) bool { return bytes.HasPrefix(p, []byte("-")) }) {
			t.Errorf("the end of %s is read as a number of CPUs", got)
		}
	}
}

// benchstat reads two exports: its medians are those of results.json, and it says of which the difference is real.
func TestBenchstatCompares(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds benchstat")
	}
	export := func(factor float64) (string, *record.Results) {
		set := newSet(t)
		var runs []*record.Run
		for i := range 8 {
			x := 1 + 0.002*float64(i)
			at := record.Coord{Stage: "first", Scenario: "h1-small", Target: "nginx-2", Round: 1, Repeat: i + 1}
			runs = append(runs, addRun(t, set, at, record.Done, map[string]float64{"requests": 1e6, "req_per_s": 60000 * x * factor, "p99_ms": 2.5 * x / factor, "sut_cpu_cores": 2 * x}))
		}
		if err := set.WriteEnvironment(&record.Environment{Version: 1, Start: began, CPUModel: "Example CPU", Hostname: set.Dir}); err != nil {
			t.Fatal(err)
		}
		res := newResults(runs)
		out := exportBenchfmt(t, set, res, Options{Headline: true})
		path := filepath.Join(t.TempDir(), "bench.txt")
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path, res
	}
	before, a := export(1)
	after, b := export(1.1)
	out, err := exec.Command("go", "tool", "benchstat", "-format", "csv", before, after).Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, out)
	}
	changes := map[string]string{}
	reader := csv.NewReader(bytes.NewReader(out))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	unit := ""
	for _, row := range rows {
		if len(row) > 1 && row[0] == "" {
			unit = row[1]
		}
		if len(row) < 6 || !strings.HasPrefix(row[0], "H1-small/stage=first/target=nginx-2/") {
			continue
		}
		changes[unit] = row[5]
		for column, res := range map[int]*record.Results{1: a, 3: b} {
			if res.Descs[unit].Across != series.Median {
				continue
			}
			median := res.Cells[0].Metrics[""].Value(unit).Value
			if got, err := strconv.ParseFloat(row[column], 64); err != nil || math.Abs(got/median-1) > 1e-6 {
				t.Errorf("the median of %s is %s, want %v", unit, row[column], median)
			}
		}
	}
	for unit, want := range map[string]string{"req_per_s": "+10.00%", "p99_ms": "-9.09%", "sut_cpu_cores": "~"} {
		if changes[unit] != want {
			t.Errorf("%s changed by %q, want %q:\n%s", unit, changes[unit], want, out)
		}
	}
}
