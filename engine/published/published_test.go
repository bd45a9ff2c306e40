package published

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl/diag"
	"github.com/planrun/planrun/engine/series"
)

var update = flag.Bool("update", false, "write the golden files again")

// cells are those of a small plan: two scenarios on two targets.
func cells() (out []*Cell) {
	figures := []series.Desc{
		{Name: "req_per_s", Unit: "req/s", Across: series.Median, Class: series.Timing},
		{Name: "p99_ms", Unit: "ms", Across: series.Median, Class: series.Timing},
		{Name: "failed", Across: series.Sum, Class: series.Count},
		{Name: "rss_mib", Unit: "MiB", Across: series.Max, Class: series.Count},
		{Name: "balance", Across: series.Mean, Class: series.Count},
	}
	for _, s := range []string{"small", "large"} {
		for _, t := range []string{"nginx", "haproxy"} {
			out = append(out, &Cell{Scenario: s, Target: t, Repeats: 3, Figures: figures})
		}
	}
	out[3].None = "it cannot do large answers"
	return out
}

const head = "scenario,target,metric,statistic,value\n"

func read(t *testing.T, text string) ([]*Cell, diag.List) {
	t.Helper()
	figures, list := Read("f.csv", []byte(text))
	c := cells()
	return c, append(list, Runs(figures, c)...)
}

// Each file of testdata/bad has problems, all of which are told in one pass, at their places.
func TestProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.csv")
	if err != nil || len(files) < 8 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		figures, list := Read(name, content)
		list = append(list, Runs(figures, cells())...)
		list.Sort([]string{name})
		var got bytes.Buffer
		if err := diag.Render(&got, list, map[string][]byte{name: content}); err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if !p.Pos.IsValid() || p.Hint == "" {
				t.Errorf("%s: no place, or nothing to do: %v", name, p)
			}
		}
		golden := strings.TrimSuffix(file, ".csv") + ".golden"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() == 0 || got.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, &got, want)
		}
	}
}

// What a spreadsheet writes is read: a byte order mark, CRLF, quoted fields, and comments.
func TestRead(t *testing.T) {
	for name, text := range map[string]string{
		"plain":    head + "small,nginx,p99_ms,median,1.50\n",
		"mark":     "\ufeff" + head + "small,nginx,p99_ms,median,1.50\n",
		"crlf":     strings.ReplaceAll(head, "\n", "\r\n") + "small,nginx,p99_ms,median,1.50\r\n",
		"quoted":   `"scenario","target",metric,statistic,value` + "\n" + `"small",nginx,"p99_ms",median,"1.50"` + "\n",
		"comments": "# from a paper\n" + head + "# its table 1\n\nsmall,nginx,p99_ms,median,1.50",
	} {
		figures, list := Read("f.csv", []byte(text))
		if list != nil || len(figures) != 1 || figures[0].Value.Low() != 1.495 || figures[0].Value.High() != 1.505 || figures[0].Metric != "p99_ms" {
			t.Errorf("%s: %+v, %v", name, figures, list)
		}
	}
}

// What a printed number stands for.
func TestPrinted(t *testing.T) {
	for text, want := range map[string][2]float64{"64273": {64272.5, 64273.5}, "1.56": {1.555, 1.565}, "2.0e3": {1950, 2050}, "5e-1": {0.45, 0.55}, "-3": {-3.5, -2.5}, "+0": {-0.5, 0.5}} {
		var p Printed
		why, hint := p.parse(text)
		if why != "" || !close(p.Low(), want[0]) || !close(p.High(), want[1]) {
			t.Errorf("%s: %v to %v, %s; %s", text, p.Low(), p.High(), why, hint)
		}
	}
}

func close(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// How statistics become runs, or do not.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		name, metric, figures string
		runs, whole           string
		ranked                bool
	}{
		{"every run", "p99_ms", "run1 3, run2 1, run3 2", "[3 1 2]", "map[]", false},
		{"every run, and what they give", "p99_ms", "run1 3, run2 1, run3 2, median 2, min 1, max 3, mean 2.0, sum 6", "[3 1 2]", "map[]", false},
		{"three from their order", "req_per_s", "max 9, median 5, min 4", "[4 5 9]", "map[]", true},
		{"three from their order, with their mean", "req_per_s", "max 9, median 5, min 4, mean 6.0", "[4 5 9]", "map[]", true},
		{"all the same", "req_per_s", "min 4, max 4", "[4 4 4]", "map[]", false},
		{"a lone median", "p99_ms", "median 1.56", "[]", "map[median:1.56]", false},
		{"a lone peak", "rss_mib", "max 130", "[]", "map[max:130]", false},
		{"a lone sum", "failed", "sum 7", "[]", "map[sum:7]", false},
		{"a lone mean", "balance", "mean -1", "[]", "map[mean:-1]", false},
		{"nothing failed", "failed", "sum 0", "[0 0 0]", "map[]", false},
		{"at most nothing", "failed", "max 0", "[0 0 0]", "map[]", false},
		{"a median with its range", "rss_mib", "min 1, max 3", "[]", "map[max:3 min:1]", false},
		{"the rounding of a mean", "balance", "run1 1.4, run2 1.4, run3 1.4, mean 1.4", "[1.4 1.4 1.4]", "map[]", false},
	} {
		text := head
		for _, f := range strings.Split(c.figures, ", ") {
			statistic, value, _ := strings.Cut(f, " ")
			text += fmt.Sprintf("small,nginx,%s,%s,%s\n", c.metric, statistic, value)
		}
		got, list := read(t, text)
		if list != nil {
			t.Errorf("%s: %v", c.name, list)
			continue
		}
		runs := []float64{}
		for _, r := range got[0].Runs {
			if v, ok := r[c.metric]; ok {
				runs = append(runs, v)
			}
		}
		if r, w := fmt.Sprint(runs), fmt.Sprint(got[0].Whole[c.metric]); r != c.runs || w != c.whole || (len(got[0].Ranked) > 0) != c.ranked {
			t.Errorf("%s: runs %s, whole %s, ranked %v", c.name, r, w, got[0].Ranked)
		}
	}
}

// Of two runs, and of one, less is enough.
func TestFewRuns(t *testing.T) {
	figures, list := Read("f.csv", []byte(head+"small,nginx,p99_ms,min,1\nsmall,nginx,p99_ms,max,2\nlarge,nginx,p99_ms,median,7\n"))
	if list != nil {
		t.Fatal(list)
	}
	c := cells()[:3]
	c[0].Repeats, c[2].Repeats = 2, 1
	if list := Runs(figures, c); list != nil || fmt.Sprint(c[0].Runs) != "[map[p99_ms:1] map[p99_ms:2]]" || fmt.Sprint(c[2].Runs) != "[map[p99_ms:7]]" || fmt.Sprint(c[0].Ranked) != "[p99_ms]" {
		t.Errorf("%v, %v, %v: %v", c[0].Runs, c[0].Ranked, c[2].Runs, list)
	}
}
