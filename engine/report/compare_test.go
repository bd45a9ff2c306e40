package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/load"
)

// two makes two targets a and b of one scenario.
func two(a, b cellSpec) *builder {
	f := newFixture()
	a.scenario, a.target, b.scenario, b.target = "s", "a", "s", "b"
	f.cell(a)
	f.cell(b)
	return newBuilder(f.in, Options{})
}

func (b *builder) all() []unit {
	var units []unit
	for i := range b.res.Cells {
		units = append(units, unit{cell: &b.res.Cells[i]})
	}
	return units
}

// A range is what several runs give: where each side has one there is none.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want string
	}{{[]float64{2000}, []float64{1000}, ""}, {around(2000), []float64{1000}, "1.980 to 2.020"}, {nil, []float64{1000}, "n/a"}} {
		b := two(cellSpec{rates: c.a}, cellSpec{rates: c.b})
		got := b.compare(b.all(), record.Ratio{Of: "a", To: record.Against{Target: "b"}}, compare.ParseName("req_per_s"))
		if got.span() != c.want {
			t.Errorf("%v to %v: range %q, want %q", c.a, c.b, got.span(), c.want)
		}
	}
}

func TestCompareSays(t *testing.T) {
	ratio := record.Ratio{Of: "a", To: record.Against{Target: "b"}}
	failing := load.Counts{Errors: map[string]int64{"reset": 100}}
	for _, c := range []struct {
		name, metric string
		a, b         cellSpec
		ahead        string
		says         string
	}{
		{"more requests are better", "req_per_s", cellSpec{rates: around(2000)}, cellSpec{rates: around(1000)}, "a", "a is better: beyond the noise floor of 1.023"},
		{"lower latency is better", "p99_ms", cellSpec{rates: around(2000)}, cellSpec{rates: around(1000)}, "a", "a is better: beyond"},
		{"fewer requests are worse", "req_per_s", cellSpec{rates: around(1000)}, cellSpec{rates: around(2000)}, "b", "b is better: beyond"},
		{"no better direction", "requests", cellSpec{rates: around(1000)}, cellSpec{rates: around(2000)}, "", "beyond the noise floor"},
		{"noise", "req_per_s", cellSpec{rates: around(1000)}, cellSpec{rates: around(1001)}, "", "within the noise floor of 1.023; about"},
		{"two runs", "req_per_s", cellSpec{rates: []float64{1000, 1000}}, cellSpec{rates: around(2000)}, "", "unknown: below 3 runs a side the noise is unknown (a has 2, b 3)"},
		{"distorted", "p99_ms", cellSpec{rates: around(1000), failed: failing}, cellSpec{rates: around(2000)}, "", "n/a: distorted: 0.667 % of the requests of a failed or took over a second once sent"},
		{"distorted latency, honest rate", "req_per_s", cellSpec{rates: around(1000), failed: failing}, cellSpec{rates: around(2000)}, "b", "b is better"},
		{"a missing side", "req_per_s", cellSpec{status: record.Unsupported, reason: "no such program"}, cellSpec{rates: around(2000)}, "", "n/a: a: unsupported: no such program"},
		{"nothing by nothing", "failed", cellSpec{rates: around(1000)}, cellSpec{rates: around(1000)}, "", "n/a: 0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := two(c.a, c.b)
			got := b.compare(b.all(), ratio, compare.ParseName(c.metric))
			if got.ahead() != c.ahead {
				t.Errorf("ahead is %q, want %q", got.ahead(), c.ahead)
			}
			if !strings.HasPrefix(got.says(), c.says) {
				t.Errorf("says %q, want %q", got.says(), c.says)
			}
		})
	}
}

func TestBestNamesTheWinner(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "slow", rates: around(1000)})
	f.cell(cellSpec{scenario: "s", target: "broken", rates: around(5000), failed: load.Counts{Non2xx: map[int]int64{502: 10000}}})
	f.cell(cellSpec{scenario: "s", target: "quick", rates: around(2000)})
	f.cell(cellSpec{scenario: "s", target: "absent", status: record.Unsupported})
	b := newBuilder(f.in, Options{})
	of := func(m string) string {
		return b.compare(b.all(), record.Ratio{Of: "slow", To: record.Against{Best: []string{"absent", "broken", "quick", "slow"}}}, compare.ParseName(m)).to
	}
	if got := of("req_per_s"); got != "broken" {
		t.Errorf("the best rate is %s's, want broken's: its rate is of successes", got)
	}
	if got := of("p99_ms"); got != "quick" {
		t.Errorf("the best latency is %s's, want quick's: broken's is distorted", got)
	}
}

// A/A: what another stage says of the same cell raises the noise floor.
func TestOtherStagesAreNoise(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{stage: "one", scenario: "s", target: "a", rates: around(1200)})
	f.cell(cellSpec{stage: "one", scenario: "s", target: "b", rates: around(1000)})
	f.cell(cellSpec{stage: "two", scenario: "s", target: "b", rates: around(1300)})
	b := newBuilder(f.in, Options{})
	c := b.compare(b.all()[:2], record.Ratio{Of: "a", To: record.Against{Target: "b"}}, compare.ParseName("req_per_s"))
	if c.Ratio.Noise != stats.Within || factor(c.Ratio.Floor) != "1.300" {
		t.Errorf("noise %s, floor %v; want within 1.3: stage two has the same cell 1.3 times as fast", c.Ratio.Noise, c.Ratio.Floor)
	}
}

func TestTaintedRatioIsMarked(t *testing.T) {
	b := two(cellSpec{rates: around(2000), tainted: "the generator was busy"}, cellSpec{rates: around(1000)})
	c := b.compare(b.all(), record.Ratio{Of: "a", To: record.Against{Target: "b"}}, compare.ParseName("req_per_s"))
	if c.ahead() != "" || c.says() != "beyond the noise floor of 1.023; not to be trusted" {
		t.Errorf("%q is ahead: %q", c.ahead(), c.says())
	}
	if notes := b.spoilt(c); len(notes) != 1 || !strings.Contains(b.notes[notes[0].Note-1][0].Text, "the generator was busy") {
		t.Errorf("notes are %v of %v", notes, b.notes)
	}
}
