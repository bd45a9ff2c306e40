package plans_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/published"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
)

// imported makes a result set of a shipped plan of published figures and a file of them.
func imported(t *testing.T, name string, content []byte) *engine.Outcome {
	t.Helper()
	prog, list := check("published/"+name+".yaml", nil, read)
	if len(list) > 0 {
		t.Fatal(list)
	}
	out, err := prog.Import(engine.ImportOptions{Out: filepath.Join(t.TempDir(), "set"), File: name + ".csv", Content: content, Command: []string{"planrun", "import"}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func shippedFigures(t *testing.T, name string) []byte {
	t.Helper()
	b, err := read("published/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// table reads a CSV file below its header.
func table(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 {
		t.Fatalf("%s has %d lines", file, len(rows))
	}
	return rows[1:]
}

// TestShippedPublishedPlans checks that each plan of published figures compiles without a warning, takes the file beside it,
// and refuses to run.
func TestShippedPublishedPlans(t *testing.T) {
	for _, file := range files(t, "published") {
		prog, list := check(file, nil, read)
		if len(list) > 0 || prog == nil || len(prog.Cells) == 0 || prog.Plan.About == "" {
			t.Errorf("%s: %v", file, list)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if out := imported(t, name, shippedFigures(t, name)); !out.Results.Complete || out.Exit != 0 {
			t.Errorf("%s: exit %d, %s", file, out.Exit, out.Why)
		}
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := prog.Run(t.Context(), engine.RunOptions{Out: dir}); err == nil || !strings.Contains(err.Error(), "published figures only") {
			t.Errorf("%s runs: %v", file, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a run left %s", file, dir)
		}
	}
}

// ratio is a ratio of the plan's report, of a metric of a scenario.
func ratio(t *testing.T, res *record.Results, scenario, metric, of, to string) (compare.Comparison, bool) {
	t.Helper()
	for _, s := range res.Sections {
		for _, r := range s.Ratios {
			metrics := r.Metrics
			if len(metrics) == 0 {
				metrics = s.Metrics
			}
			if r.Of != of || r.To.Target != to || !slices.Contains(metrics, metric) {
				continue
			}
			side := func(target string) compare.Side {
				for _, i := range s.Cells {
					if c := &res.Cells[i]; c.Coord.Scenario == scenario && c.Coord.Target == target {
						return compare.Side{Name: target, Cell: c}
					}
				}
				return compare.Side{Name: target, Why: "no cell of " + target}
			}
			a, b := side(of), side(to)
			if a.Cell == nil || b.Cell == nil {
				continue // a section of other scenarios
			}
			return compare.Metric(compare.ParseName(metric), compare.Describe(res.Descs, metric), a, b, compare.Options{DistortedAbove: r.DistortedAbove, DistortsAll: r.DistortsAll}), true
		}
	}
	return compare.Comparison{}, false
}

// TestPublishedRatios holds every ratio that the publication prints against that of its figures. Both sides and the ratio
// were rounded: the ratio that was computed before lies in the interval of the printed one, and in that of the quotient of
// two numbers that are printed like the two figures.
func TestPublishedRatios(t *testing.T) {
	content := shippedFigures(t, "ingress-round2")
	out := imported(t, "ingress-round2", content)
	figures, list := published.Read("ingress-round2.csv", content)
	if list != nil || len(figures) != 470 {
		t.Fatalf("%d figures: %v", len(figures), list)
	}
	value := func(scenario, target, metric string) (of published.Printed) {
		for _, f := range figures {
			if f.Scenario == scenario && f.Target == target && f.Metric == metric && f.Statistic != "min" && (f.Statistic != "max" || metric == "sut_rss_peak_mib") {
				return f.Value
			}
		}
		t.Fatalf("no %s of %s on %s", metric, scenario, target)
		return
	}
	rows := table(t, "testdata/ingress-round2-ratios.csv")
	ratios, without := 0, 0
	for _, row := range rows {
		scenario, metric, of, to, printed := row[0], row[1], row[2], row[3], row[4]
		c, found := ratio(t, out.Results, scenario, metric, of, to)
		if !found {
			t.Errorf("%v: the report of the plan has no such ratio", row)
			continue
		}
		a, b := value(scenario, of, metric), value(scenario, to, metric)
		if printed == "n/a" {
			without++
			spoilt := func(target string) bool {
				return value(scenario, target, "failed").Value+value(scenario, target, "slow_over_1s").Value > 0.001*value(scenario, target, "requests").Value
			}
			want := ""
			switch {
			case spoilt(of) || spoilt(to):
				want = "distorted: "
			case a.Value == 0 && b.Value == 0:
				want = "0/0"
			case b.Value == 0:
				want = to + " is 0"
			}
			if want == "" || !strings.HasPrefix(c.Ratio.NA, want) {
				t.Errorf("%v: n/a because %q, want %q", row, c.Ratio.NA, want)
			}
			continue
		}
		ratios++
		low, high := a.Low()/b.High(), a.High()/b.Low()
		from, to2 := interval(t, strings.TrimSuffix(printed, "x"))
		if got := c.Ratio; got.NA != "" || got.Value < low || got.Value > high || low > to2 || high < from {
			t.Errorf("%v: %v %s; %s / %s is %.4f to %.4f, printed is %.3f to %.3f", row, got.Value, got.NA, a.Text, b.Text, low, high, from, to2)
		}
	}
	if len(rows) != 30 || ratios != 22 || without != 8 {
		t.Errorf("%d rows: %d ratios and %d without", len(rows), ratios, without)
	}
}

// interval is what is printed like a number.
func interval(t *testing.T, s string) (from, to float64) {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, decimals, _ := strings.Cut(s, ".")
	half := math.Pow(10, -float64(len(decimals))) / 2
	return v - half, v + half
}

// TestPublishedNoise looks at what is known of single runs: where they follow from what was published, there is noise; where
// they do not, nothing is said of it.
func TestPublishedNoise(t *testing.T) {
	out := imported(t, "ingress-round2", shippedFigures(t, "ingress-round2"))
	for _, x := range []struct {
		scenario, metric, of string
		noise                stats.Noise
		runs                 int
	}{
		{"h1-small", "req_per_s", "scalws-shared", stats.Beyond, 3},
		{"latency", "p99_clean_ms", "ingress-nginx-tuned", stats.Unknown, 1},
		{"latency", "sut_cpu_cores", "ingress-nginx-tuned", stats.Unknown, 1},
		{"h1-small", "sut_rss_peak_mib", "ingress-nginx-tuned", stats.Unknown, 1},
	} {
		to := "ingress-nginx-tuned"
		if x.of == to {
			to = "scalws-shared"
		}
		c, found := ratio(t, out.Results, x.scenario, x.metric, x.of, to)
		if !found || c.Ratio.Noise != x.noise || len(c.Of.Runs) != x.runs || (c.Of.Only == "") != (x.runs == 3) || c.Ratio.Noise == stats.Unknown && c.Ratio.Why == "" {
			t.Errorf("%s of %s: found %v, %+v, %+v", x.metric, x.scenario, found, c.Ratio, c.Of)
		}
	}
}

// A figure that is not in the file has no ratio, and that is why.
func TestUnpublishedFigure(t *testing.T) {
	var left [][]byte
	for _, line := range bytes.Split(shippedFigures(t, "ingress-round2"), []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("latency,scalws-shared,p99_clean_ms,")) && !bytes.HasPrefix(line, []byte("config,traefik,")) {
			left = append(left, line)
		}
	}
	out := imported(t, "ingress-round2", bytes.Join(left, []byte("\n")))
	c, found := ratio(t, out.Results, "latency", "p99_clean_ms", "ingress-nginx-tuned", "scalws-shared")
	if !found || c.Ratio.NA != "p99_clean_ms: it was not published" {
		t.Errorf("%v, %+v", found, c.Ratio)
	}
	i := slices.IndexFunc(out.Results.Cells, func(c record.Cell) bool { return c.Coord.Scenario == "config" && c.Coord.Target == "traefik" })
	if i < 0 || out.Results.Cells[i].Status != record.Skipped || out.Results.Cells[i].Reason != "ingress-round2.csv has no figures of it" {
		t.Errorf("cell %d of %+v", i, out.Results.Cells)
	}
}

// TestPublishedVerdicts judges the three published suites as their publication does.
func TestPublishedVerdicts(t *testing.T) {
	out := imported(t, "thread-concentration", shippedFigures(t, "thread-concentration"))
	said := map[string][3]string{ // what the publication says -> outcome, label, reason
		"robust: passes in all runs":            {record.Pass, "robust", ""},
		"robust: confirmed in all runs":         {record.Pass, "confirmed", ""},
		"noisy: direction differs between runs": {record.Inconclusive, "", "noisy, 1 of 3"},
		"refuted in all runs":                   {record.Fail, "refuted", "pauses_to_trigger >= 1"},
	}
	scenario := map[string]string{"cv(s2)/cv(s1)": "trigger", "cv(s3-fortio)/cv(s2-fortio)": "stream-cap-queueing", "cv(s3)": "stream-cap-dialing", "paused(s5)/paused(s2)": "windows"}
	rows := table(t, "testdata/thread-concentration-runs.csv")
	for _, row := range rows {
		i := slices.IndexFunc(out.Results.Verdicts, func(j record.Judgement) bool { return j.Verdict == row[0] })
		want, known := said[row[6]]
		if i < 0 || !known {
			t.Errorf("%v: no verdict, or no meaning of what was published", row)
			continue
		}
		j := out.Results.Verdicts[i]
		if got := [3]string{j.Outcome, j.Label, j.Reason}; got != want || j.Coord.Scenario != scenario[row[1]] || j.N != 3 || len(j.Runs) != 3 {
			t.Errorf("%v: %q of %s, %d runs; want %q", row, got, j.Coord.Scenario, j.N, want)
			continue
		}
		var runs []float64
		for _, c := range out.Results.Cells {
			for _, v := range c.Metrics[""].All() {
				if c.Coord.Scenario == scenario[row[1]] {
					runs = v.Runs
				}
			}
		}
		if got := fmt.Sprint(runs); got != fmt.Sprint(numbers(t, row[2:5])) {
			t.Errorf("%v: the runs are %s", row, got)
		}
	}
	if len(rows) != 4 || len(out.Results.Verdicts) != 4 {
		t.Errorf("%d rows, %d verdicts", len(rows), len(out.Results.Verdicts))
	}
}

func numbers(t *testing.T, texts []string) (out []float64) {
	t.Helper()
	for _, s := range texts {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// The published variations of s3 are those of five connections on six gateways, by the deviation of the population: that of
// a sample gives others.
func TestPublishedVariation(t *testing.T) {
	for printed, connections := range map[string][]float64{"0.45": {1, 1, 1, 1, 1, 0}, "1.28": {3, 1, 1, 0, 0, 0}, "1.08": {2, 2, 1, 0, 0, 0}} {
		if got := strconv.FormatFloat(stats.CV(connections), 'f', 2, 64); got != printed {
			t.Errorf("%v vary by %s, printed is %s", connections, got, printed)
		}
	}
}
