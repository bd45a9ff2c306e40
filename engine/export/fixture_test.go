package export

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

var began = time.Date(2026, 11, 30, 6, 56, 0, 0, time.UTC)

// hostile has what breaks quoting, markup, formulas, encodings and terminals.
const hostile = "=HYPERLINK(\"a\",'b')|`c` <d>&]]>\r\n\te,f\x00\x1b[31m\u202e ü 雪 🦊 100% \\ {x=\"y\"}"

// sampled is the only run that has series and seconds of a load.
const sampled = "sampled"

// newSet makes an empty result set.
func newSet(t *testing.T) *record.Set {
	t.Helper()
	set, err := record.Create(record.CreateOptions{Plan: "synthetic", Start: began, Out: filepath.Join(t.TempDir(), "set")})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// newResults are results of the runs, with cells as the engine makes them.
func newResults(runs []*record.Run) *record.Results {
	res := &record.Results{Version: record.Version, Plan: "synthetic v1.2", Complete: true, ExitWhy: "the plan has no gates"}
	res.Cells, res.Descs = measure.CellsOf(runs)
	return res
}

// addRun writes a run whose metrics are those of its headline, and of its phase and load the same plus one.
func addRun(t *testing.T, set *record.Set, at record.Coord, status record.Status, m map[string]float64) *record.Run {
	t.Helper()
	r := &record.Run{Version: record.Version, Coord: at, Status: status, Start: began, Seconds: 2.5, Metrics: record.Windows{}}
	if m != nil {
		more := map[string]float64{}
		for name, v := range m {
			more[name] = v + 1
		}
		r.Metrics[""], r.Metrics["phase/fault 1/2"], r.Metrics["load/"+hostile] = record.WindowOf(m), record.WindowOf(more), record.WindowOf(more)
	}
	r.ValueDescs = []series.Desc{{Name: "took_ms", Unit: "ms", Better: series.Lower, Across: series.Median, Class: series.Timing, Doc: "how long " + hostile}}
	if err := set.WriteRun(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// fixture is a set with every kind of cell: several runs, one, none, and names as nobody should choose them.
func fixture(t *testing.T) (*record.Set, *record.Results) {
	t.Helper()
	set := newSet(t)
	var runs []*record.Run
	add := func(at record.Coord, status record.Status, m map[string]float64) {
		runs = append(runs, addRun(t, set, at, status, m))
	}
	size := func(v string) []record.Axis { return []record.Axis{{Name: "size", Value: v}} }
	for repeat := 1; repeat <= 3; repeat++ {
		x := float64(repeat)
		add(record.Coord{Stage: "first", Scenario: "h1-small", Target: "nginx", Matrix: size("4k"), Round: 1, Repeat: repeat}, record.Done,
			map[string]float64{"requests": 1e6 + x, "failed": 0, "req_per_s": 64273.123456789 * x, "p99_ms": 2.74 / x, "sut_rss_peak_mib": 100 * x, "took_ms": -x, "rate_delivered": 1e-9 * x})
		m := map[string]float64{"requests": 3e15 + x, "failed": x, "req_per_s": 1e21 * x}
		if repeat == 2 {
			delete(m, "failed") // a run without it
		}
		add(record.Coord{Stage: "second -2", Scenario: hostile, Target: hostile, Matrix: size(hostile), Round: repeat, Repeat: 1}, record.Done, m)
	}
	add(record.Coord{Stage: "first", Scenario: "latency", Target: "-tuned", Round: 1, Repeat: 1}, record.Aborted, map[string]float64{"p99_ms": 5, "requests": 0})
	add(record.Coord{Stage: "first", Scenario: "latency", Target: "haproxy-2", Round: 1, Repeat: 1}, record.Unsupported, nil)
	add(record.Coord{Stage: "first", Scenario: "latency", Target: "caddy", Round: 1, Repeat: 1}, record.Unmet, map[string]float64{"p99_ms": 7})
	runs = append(runs, sampledRun(t, set))
	res := newResults(runs)
	res.Verdicts = judgements()
	res.Exit, res.ExitWhy = 1, "1 gating verdict failed"
	env := &record.Environment{
		Version: record.Version, Start: began, Planrun: "v0.1.0", Command: []string{"planrun", hostile}, Hostname: "bench-1", OS: "Debian GNU/Linux 12", Kernel: "6.1.0 #1", CPUModel: "Example CPU", CPUs: 4, MemoryMiB: 15987,
		Programs: map[string]record.Program{"nginx": {Version: "nginx/1.22.1\nbuilt with " + hostile, SHA256: "ab12"}, hostile: {Missing: "no program"}},
	}
	if err := set.WriteEnvironment(env); err != nil {
		t.Fatal(err)
	}
	if err := set.WriteResults(res); err != nil {
		t.Fatal(err)
	}
	res, err := set.Results() // as a reader of results.json has it
	if err != nil {
		t.Fatal(err)
	}
	return set, res
}

func sampledRun(t *testing.T, set *record.Set) *record.Run {
	t.Helper()
	r := &record.Run{
		Version: record.Version, Coord: record.Coord{Stage: "first", Scenario: sampled, Target: "nginx", Round: 1, Repeat: 1}, Start: began,
		Series: []series.SeriesDesc{{Name: "rss_mib", Unit: "MiB", Shape: series.Gauge}},
		Loads:  []record.Load{{Name: hostile, Start: 0.25}},
	}
	w, err := set.StartRun(r, record.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Points(series.Point{T: 0.5, Series: "rss_mib", Source: hostile, Replica: 1, Role: "sut", Label: "=1+1", V: 12.5}, series.Point{T: 1.5, Series: "own", V: -1e-9}, series.Point{T: 2, Series: "generator_cpu_s", V: 1}, series.Point{T: 2, Series: "events_per_s", V: 1})
	h := new(hdr.Histogram)
	for _, ms := range []int64{1, 2, 3, 4} {
		h.Record(ms * 1e6)
	}
	w.Seconds(load.Second{Load: hostile, Phase: "measure", Second: 1, Latency: h, Counts: load.Counts{Due: 7, OK: 4, Non2xx: map[int]int64{502: 2}, Errors: map[string]int64{"reset": 1}}})
	r.Status, r.Seconds = record.Done, 3
	if err := w.Finish(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// judgements are one of each kind.
func judgements() []record.Judgement {
	at := func(scenario, target string) record.Coord {
		return record.Coord{Stage: "first", Scenario: scenario, Target: target}
	}
	p99 := []record.Operand{{Text: "p99_ms", Value: "7.31"}}
	var out []record.Judgement
	for _, outcome := range []string{record.Pass, record.Fail, record.Inconclusive, record.NotSupported, record.Error, record.NotJudged} {
		for _, gate := range []string{"true", "fail-only", ""} {
			out = append(out, record.Judgement{Verdict: "gate " + gate, About: "it matters", Coord: at("h1-small", outcome), Outcome: outcome, Reason: "because of " + outcome, Expression: "p99_ms < 5", Operands: p99, N: 3, Gate: gate})
		}
	}
	out = append(out,
		record.Judgement{Verdict: hostile, Coord: record.Coord{Stage: "second -2", Scenario: hostile, Target: hostile, Matrix: []record.Axis{{Name: "size", Value: hostile}}}, Outcome: record.Fail, Label: hostile, Reason: hostile, Expression: hostile, Operands: []record.Operand{{Text: hostile, Value: hostile}}, N: 3, Gate: "true", Broke: hostile,
			Runs: []record.RunJudgement{{Round: 1, Outcome: record.Pass}, {Round: 2, Repeat: 1, Outcome: record.Fail, Reason: hostile, Operands: p99}}},
		record.Judgement{Verdict: "twice", Outcome: record.Pass, Expression: "true", N: 8},
		record.Judgement{Verdict: "twice", Outcome: record.Pass, Expression: "true", N: 8},
	)
	return out
}

// readBack has python read an export, by modules that share no code with what wrote it.
func readBack(t *testing.T, format string, content []byte, into any) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts python")
	}
	const python = "/usr/bin/python3" // Debian's, which sees Debian's modules
	cmd := exec.Command(python, filepath.Join("testdata", "read.py"), format)
	cmd.Env = append(cmd.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	cmd.Stdin = bytes.NewReader(content)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading %s by python: %v (scripts/install-peers installs what it needs)\n%s", format, err, &stderr)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("what python printed: %v\n%s", err, b)
	}
}
