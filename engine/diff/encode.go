package diff

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/export"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// Version of the JSON form. It grows when a field changes its meaning or goes away, not when one is added.
const Version = 1

// A JSON is the comparison as data. What has no value is left out, never NaN or infinite.
type JSON struct {
	Version     int          `json:"version"`
	A           JSONSet      `json:"a"`
	B           JSONSet      `json:"b"`
	Same        string       `json:"same,omitempty"`  // why A and B are one and the same
	Drift       string       `json:"drift,omitempty"` // that it is not known how far two sets of one side lie apart
	Forced      bool         `json:"forced"`          // compared in spite of mismatches
	Differences []Difference `json:"differences"`
	Mismatches  []Mismatch   `json:"mismatches"`
	Cells       int          `json:"matched_cells"`
	Unmatched   []Unmatched  `json:"unmatched"`
	Lacking     []string     `json:"lacking,omitempty"` // sets that have no results of cells that others of their side have
	Summary     Summary      `json:"summary"`
	Means       []Mean       `json:"geometric_means"`
	Rows        []JSONRow    `json:"rows"` // what got worse first
}

// A JSONSet is one side.
type JSONSet struct {
	Name   string   `json:"name"`
	Target string   `json:"target,omitempty"` // its cells of this target alone
	Gaps   []string `json:"gaps,omitempty"`   // what it lacks
	// Further sets of the same side.
	Again []JSONSet `json:"again,omitempty"`
}

// A JSONRow is one metric of one matched cell.
type JSONRow struct {
	Stage    string        `json:"stage"`
	Scenario string        `json:"scenario"`
	Target   string        `json:"target"`
	Matrix   []record.Axis `json:"matrix,omitempty"`
	Metric   string        `json:"metric"`           // with its window before and a statistic behind, as --metric takes it
	Unit     string        `json:"unit,omitempty"`   // ms, req/s, MiB, ...
	Better   series.Better `json:"better,omitempty"` // "lower" or "higher"; left out: neither
	A        JSONSide      `json:"a"`
	B        JSONSide      `json:"b"`
	Ratio    *float64      `json:"ratio,omitempty"` // of the medians of the runs, B/A
	Low      *float64      `json:"low,omitempty"`   // the least of B's runs by the greatest of A's
	High     *float64      `json:"high,omitempty"`  // the greatest of B's runs by the least of A's; left out if that is 0
	// Interval of the ratio of the geometric means of the runs, at 95 %; left out below three runs a side. Beyond the noise is
	// what is outside the floor, and the interval all on one side of 1.
	Interval []float64   `json:"interval,omitempty"`
	Noise    stats.Noise `json:"noise,omitempty"`
	Floor    *float64    `json:"floor,omitempty"`   // the noise floor, a factor above 1
	Repeats  *float64    `json:"repeats,omitempty"` // the part of it that is of repeats in other stages and in further sets of a side
	Needed   int         `json:"needed,omitempty"`  // runs a side that would tell
	// Outcome of B: "better", "worse", "differs", "within noise", "equal" (0 on both sides), "noise unknown", "not to be trusted", "n/a".
	Outcome  compare.Outcome `json:"outcome"`
	Appeared bool            `json:"appeared,omitempty"` // none in A, some in B, of what is better low
	Why      string          `json:"why,omitempty"`      // there is no ratio, or no known noise
	Tainted  []string        `json:"tainted,omitempty"`  // the guards that spoil a side, with which: "B: ..."
}

// A JSONSide is one side of a row.
type JSONSide struct {
	Value *float64  `json:"value,omitempty"`
	Runs  []float64 `json:"runs"`
	Why   string    `json:"why,omitempty"` // there is no value
}

// WriteJSON writes the comparison as a JSON, indented.
func (d *Diff) WriteJSON(w io.Writer) error {
	set := func(s *Set) JSONSet {
		out := JSONSet{Name: s.Name, Target: s.Target, Gaps: s.Gaps}
		for _, m := range s.More {
			out.Again = append(out.Again, JSONSet{Name: m.Name, Target: m.Target, Gaps: m.Gaps})
		}
		return out
	}
	out := JSON{Version: Version, A: set(d.A), B: set(d.B), Same: d.Same, Drift: d.Drift(), Forced: d.Forced, Differences: notNil(d.Differences), Mismatches: notNil(d.Mismatches),
		Cells: d.Cells, Unmatched: notNil(d.Unmatched), Lacking: d.Lacking, Summary: d.Summary, Means: notNil(d.Means), Rows: []JSONRow{}}
	for _, r := range d.Rows {
		out.Rows = append(out.Rows, r.json())
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func notNil[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (r Row) json() JSONRow {
	x := r.Ratio
	out := JSONRow{Stage: r.Coord.Stage, Scenario: r.Coord.Scenario, Target: r.Coord.Target, Matrix: r.Coord.Matrix, Metric: r.Name.Text, Unit: r.Desc.Unit, Better: r.Better,
		A: side(r.To), B: side(r.Of), Noise: x.Noise, Needed: x.Needed, Outcome: r.Outcome(), Appeared: r.Appeared(), Why: x.Why, Tainted: r.Spoilt()}
	if x.NA != "" {
		out.Why, out.Noise = x.NA, ""
		return out
	}
	out.Ratio, out.Low, out.High = finite(x.Value), finite(x.Low), finite(x.High)
	if x.Interval[1] > 0 {
		out.Interval = x.Interval[:]
	}
	if x.Floor > 0 {
		out.Floor = finite(x.Floor)
	}
	if x.Repeats > 1 {
		out.Repeats = finite(x.Repeats)
	}
	return out
}

func side(r compare.Reading) JSONSide {
	if r.Why != "" {
		return JSONSide{Runs: []float64{}, Why: r.Why}
	}
	if r.Only != "" { // nobody knows what single runs gave
		r.Runs = nil
	}
	return JSONSide{Value: finite(r.Value), Runs: notNil(r.Runs)}
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// WriteCSV writes the rows, a line each, after a line of titles. What differs beside the figures is not in it. Texts that a
// spreadsheet would take for a formula begin with an apostrophe (export.Defused).
func (d *Diff) WriteCSV(w io.Writer) error {
	c, text := csv.NewWriter(w), export.Defused
	lines := [][]string{{"outcome", "stage", "scenario", "target", "matrix", "metric", "unit", "better", "value_a", "value_b", "ratio", "low", "high", "interval_low", "interval_high", "noise", "floor", "repeats", "n_a", "n_b", "why", "tainted"}}
	for _, r := range d.Rows {
		j := r.json()
		var interval [2]string
		for i, v := range j.Interval {
			interval[i] = optional(&v)
		}
		axes := make([]string, len(j.Matrix))
		for i, a := range j.Matrix {
			axes[i] = a.Name + "=" + a.Value
		}
		lines = append(lines, []string{string(j.Outcome), text(j.Stage), text(j.Scenario), text(j.Target), text(strings.Join(axes, ",")), text(j.Metric), text(j.Unit), string(j.Better),
			optional(j.A.Value), optional(j.B.Value), optional(j.Ratio), optional(j.Low), optional(j.High), interval[0], interval[1], string(j.Noise), optional(j.Floor), optional(j.Repeats),
			strconv.Itoa(len(j.A.Runs)), strconv.Itoa(len(j.B.Runs)), text(j.Why), text(strings.Join(j.Tainted, "; "))})
	}
	if err := c.WriteAll(lines); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
