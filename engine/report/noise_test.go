package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
)

// linesOf is a section as plain lines.
func linesOf(t *testing.T, b *builder, section func(*builder) ([]Section, error)) string {
	t.Helper()
	sections, err := section(b)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range sections {
		for _, block := range s.Blocks {
			switch x := block.(type) {
			case Heading:
				out = append(out, "# "+x.Text)
			case Paragraph:
				out = append(out, terminal(x.Text))
			case List:
				for _, item := range x.Items {
					out = append(out, "- "+terminal(item))
				}
			case Table:
				for _, r := range x.Rows {
					var cells []string
					for _, c := range r {
						cells = append(cells, terminal(c))
					}
					out = append(out, strings.Join(cells, " | "))
				}
			}
		}
	}
	return strings.Join(out, "\n")
}

// again runs each target in a stage and in its reverse, with rates of the second times by.
func again(targets map[string]float64, by float64) *fixture {
	f := newFixture()
	f.in.Results.Stages = []record.Stage{{Name: "one", Round: 1, Order: "blocked"}, {Name: "back", Round: 1, Order: "reverse", Together: true}}
	names := sorted(targets)
	for _, t := range names {
		f.cell(cellSpec{stage: "one", scenario: "s", target: t, rates: around(targets[t])})
	}
	slices.Reverse(names)
	for _, t := range names {
		f.cell(cellSpec{stage: "back", scenario: "s", target: t, rates: around(targets[t] * by)})
	}
	return f
}

func TestOrderEffects(t *testing.T) {
	f := again(map[string]float64{"a": 1000, "b": 2000}, 1)
	f.cell(cellSpec{stage: "one", scenario: "s", target: "c", rates: around(1000)})
	f.cell(cellSpec{stage: "back", scenario: "s", target: "c", rates: around(1200)})
	f.cell(cellSpec{stage: "one", scenario: "s", target: "d", rates: []float64{1000}})
	f.cell(cellSpec{stage: "back", scenario: "s", target: "d", rates: []float64{2000}})
	b := newBuilder(f.in, Options{})
	got := linesOf(t, b, noise)
	for _, want := range []string{
		"- back (reverse, together) against one (blocked): req_per_s disagrees in 1 of 3 cells beyond the noise of their runs; by chance about one in twenty-five would. Of 1 cell more there are fewer than 3 runs a side.",
		"s / c | req_per_s | one (blocked) | 1,000 | back (reverse, together) | 1,200 | 1.200 | beyond the noise floor of 1.023 | 1.176 to 1.224 | 1.173 to 1.228",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	for _, wrong := range []string{"drifted", "s / a | req_per_s | one"} {
		if strings.Contains(got, wrong) {
			t.Errorf("the section says %q:\n%s", wrong, got)
		}
	}
	if got := linesOf(t, b, findings); !strings.Contains(got, "s / c (1,000, then 1,200)") {
		t.Errorf("the findings do not name the cell:\n%s", got)
	}
	if got := linesOf(t, newBuilder(again(map[string]float64{"a": 1000, "b": 2000, "c": 3000}, 1).in, Options{}), findings); strings.Contains(got, "disagree") {
		t.Errorf("nothing disagrees:\n%s", got)
	}
}

// What moved the whole stage is said once, as drift. What is left of a cell is an effect of its own, and who is ahead in both
// stages is ahead.
func TestDrift(t *testing.T) {
	b := newBuilder(again(map[string]float64{"a": 1000, "b": 2000, "c": 3000, "d": 1100, "e": 1200}, 0.6).in, Options{})
	got := linesOf(t, b, noise)
	for _, want := range []string{
		"The whole stage drifted: 5 of 5 cells went the same way, to 0.600 times on average (95 % interval 0.600 to 0.600).",
		"disagrees in none of 5 cells beyond the noise of their runs, apart from the drift of the whole stage.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	if got, want := linesOf(t, b, findings), "1.500 | yes: the noise floor is 1.023"; !strings.Contains(got, want) {
		t.Errorf("the findings do not say %q:\n%s", want, got)
	}

	f := again(map[string]float64{"a": 1000, "b": 2000, "c": 3000, "d": 1100, "e": 1200, "f": 1300}, 0.8)
	f.cell(cellSpec{stage: "one", scenario: "s", target: "g", rates: around(1000)})
	f.cell(cellSpec{stage: "back", scenario: "s", target: "g", rates: around(900)})
	got = linesOf(t, newBuilder(f.in, Options{}), noise)
	for _, want := range []string{
		"disagrees in 1 of 7 cells beyond the noise of their runs, apart from the drift of the whole stage",
		"s / g | req_per_s | one (blocked) | 1,000 | back (reverse, together) | 900 | 0.900 | apart from the drift of the whole stage 1.106, beyond the noise floor of 1.023",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
}

// What disagrees most comes first, among cells and among metrics, and a verdict with a limit of its own is told apart.
func TestTheFarthestDisagreeFirst(t *testing.T) {
	f := again(map[string]float64{"a": 1000, "b": 2000, "c": 3000}, 1)
	for target, then := range map[string]float64{"d": 1200, "e": 500, "f": 1010} {
		f.cell(cellSpec{stage: "one", scenario: "s", target: target, rates: around(1000)})
		f.cell(cellSpec{stage: "back", scenario: "s", target: target, rates: around(then)})
		f.in.Results.Verdicts = append(f.in.Results.Verdicts, record.Judgement{Verdict: "the same", Outcome: record.Fail, Coord: record.Coord{Stage: "one", Scenario: "s", Target: target},
			Expression: `within(req_per_s, stage("back").req_per_s, percent(0.5))`})
	}
	for _, target := range []string{"a", "b"} { // another metric, in which a cell is farther from itself than any by the rate
		for i, c := range f.in.Results.Cells {
			if v := 1 + 9*float64(len(c.Coord.Stage)-3); c.Coord.Target == target {
				f.in.Results.Cells[i].Metrics[""].Set("p99_ms", record.Value{Value: v, Runs: []float64{v, v * 1.01, v * 1.02}})
			}
		}
	}
	if all := newBuilder(f.in, Options{}); !strings.HasPrefix(linesOf(t, all, func(b *builder) ([]Section, error) { return []Section{{Blocks: []Block{List{b.disagreed()}}}}, nil }), "- back (reverse, together) against one (blocked): p99_ms disagrees") {
		t.Errorf("the metric in which a cell moved farthest does not come first")
	}
	got := said(t, f)
	for _, want := range []string{
		"s / e (1,000, then 500); s / d (1,000, then 1,200).",
		"The verdict \u201cthe same\u201d has a limit of its own: it fails for 3 cells, 2 that disagree and 1 within the noise.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the findings do not say %q:\n%s", want, got)
		}
	}
}

// A floor says of what it is: of the ratio itself, of the row, of one side alone.
func TestFloorsOfStages(t *testing.T) {
	says := func(f *fixture, of, to string) string {
		b := newBuilder(f.in, Options{})
		units := slices.DeleteFunc(b.all(), func(u unit) bool { return u.at("stage") != "one" })
		return b.compare(units, record.Ratio{Of: of, To: record.Against{Target: to}}, compare.ParseName("req_per_s")).noise()
	}
	row := again(map[string]float64{"a": 1000, "b": 1000, "c": 1000, "d": 1000}, 1)
	row.cell(cellSpec{stage: "one", scenario: "s", target: "e", rates: around(1000)})
	row.cell(cellSpec{stage: "back", scenario: "s", target: "e", rates: around(2000)})
	if got := says(row, "e", "a"); !strings.Contains(got, "2.000, by which the ratio itself moved between stages") {
		t.Errorf("of itself: %s", got)
	}
	moved := newFixture()
	for target, then := range map[string]float64{"a": 1000, "b": 1000, "c": 1500, "d": 700, "e": 2000} {
		moved.cell(cellSpec{stage: "one", scenario: "s", target: target, rates: around(1000)})
		moved.cell(cellSpec{stage: "back", scenario: "s", target: target, rates: around(then)})
	}
	if got := says(moved, "a", "b"); !strings.Contains(got, ", by which ratios of this row move between stages") {
		t.Errorf("of the row: %s", got)
	}
	got := linesOf(t, newBuilder(moved.in, Options{}), noise)
	if want := "moved most between stages: one / e to back, to 2.000 times what the median cell moved to"; !strings.Contains(got, want) {
		t.Errorf("the section does not say %q:\n%s", want, got)
	}
}

func TestWatching(t *testing.T) {
	f := newFixture()
	f.in.Results.Stages = []record.Stage{{Name: "one"}, {Name: "blind", Without: []string{"host", "process"}}}
	f.cell(cellSpec{stage: "one", scenario: "s", target: "a", rates: around(950)})
	f.cell(cellSpec{stage: "blind", scenario: "s", target: "a", rates: around(1000)})
	b := newBuilder(f.in, Options{})
	got := linesOf(t, b, noise)
	for _, want := range []string{
		"# What watching costs",
		"s / a | req_per_s | host, process | 950 | 1,000 | 0.950 | unwatched is better: beyond the noise floor of 1.023 | 0.931 to 0.969 | 0.929 to 0.972",
		"- blind is no repeat of one: one leaves out no probe, blind host, process.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "drift") || strings.Contains(got, "disagree") {
		t.Errorf("the control arm is taken for a repeat:\n%s", got)
	}
}

func TestNoiseOfFewAndMany(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "one", target: "a", rates: []float64{1000}})
	f.cell(cellSpec{scenario: "six", target: "a", rates: []float64{1000, 1010, 1020, 1030, 1040, 1050}})
	b := newBuilder(f.in, Options{})
	got := linesOf(t, b, noise)
	for _, want := range []string{"six / a | req_per_s | 6 | 1,025 | 1,000 to 1,050 | 96.9 %", "one | req_per_s | 1 | n/a*"} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	if !slices.ContainsFunc(b.notes, func(n Text) bool { return strings.Contains(fmt.Sprint(n), "3 a cell are needed") }) {
		t.Errorf("no note says how many runs are needed: %v", b.notes)
	}
}

// What a ratio says of more runs: how many would tell, or that none would.
func TestMoreRuns(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{stage: "one", scenario: "s", target: "a", rates: around(1100)})
	f.cell(cellSpec{stage: "one", scenario: "s", target: "b", rates: around(1000)})
	f.cell(cellSpec{stage: "two", scenario: "s", target: "b", rates: around(1200)})
	b := newBuilder(f.in, Options{})
	c := b.compare(b.all()[:2], record.Ratio{Of: "a", To: record.Against{Target: "b"}}, compare.ParseName("req_per_s"))
	if got := c.says(); got != "within the noise floor of 1.200 between stages; more runs would not tell" {
		t.Errorf("says %q", got)
	}
	// The medians are apart, and the means are not: one run of a is as low as one of b is high.
	b = two(cellSpec{rates: []float64{1000, 1000, 1000, 1000, 900}}, cellSpec{rates: []float64{928, 928, 928, 928, 1032}})
	c = b.compare(b.all(), record.Ratio{Of: "a", To: record.Against{Target: "b"}}, compare.ParseName("req_per_s"))
	if got := c.says(); !strings.HasPrefix(got, "within the noise: only just outside the noise floor of") || !strings.Contains(got, ", and the interval is not all on that side of 1") || c.ahead() != "" {
		t.Errorf("says %q, interval %v, ahead %q", got, c.Ratio.Interval, c.ahead())
	}
}

// A target that is the best of several itself loses to nobody.
func TestBestItself(t *testing.T) {
	b := two(cellSpec{rates: around(2000)}, cellSpec{rates: around(1000)})
	c := b.compare(b.all(), record.Ratio{Of: "a", To: record.Against{Best: []string{"b", "a", "gone"}}}, compare.ParseName("req_per_s"))
	if c.says() != "it is the best itself" || c.interval() != "" || c.ahead() != "" {
		t.Errorf("says %q, interval %q, ahead %q", c.says(), c.interval(), c.ahead())
	}
	if got := terminal(b.winner(c)); got != "a (best of 2)*" || !strings.Contains(fmt.Sprint(b.notes), "no cell of gone") {
		t.Errorf("the winner is %q, notes %v", got, b.notes)
	}
}
