package diff

import (
	"github.com/planrun/planrun/engine/record"
)

// A Diff is what the comparison of two sets gives.
type Diff struct {
	A, B        *Set
	Same        string // why the two sets are one and the same; empty if they are not
	Forced      bool   // it was asked for in spite of Mismatches
	Differences []Difference
	Mismatches  []Mismatch
	Cells       int // matched ones
	Unmatched   []Unmatched
	Rows        []Row // what got worse first
	Summary     Summary
	Means       []Mean
}

// CompareOptions say what is compared; the zero value compares the usual metrics of all cells.
type CompareOptions struct {
	Only    func(record.Coord) bool // the cells; nil is all
	Metrics []string                // patterns of metrics, as in "p99_ms", "*_ms" or "phase/fault/p99_ms.min"; nil is the usual ones
}

// Compare compares two sets. Its errors are a NoMetric, a pattern that is none, or runs that cannot be read.
func Compare(a, b *Set, opt CompareOptions) (*Diff, error) {
	d := &Diff{A: a, B: b, Same: same(a, b)}
	d.Differences = append(environments(a.Environment, b.Environment), programs(a, b)...)
	d.Differences = append(d.Differences, plans(a, b)...)
	pairs, left := match(a, b, opt.Only)
	d.Cells, d.Unmatched = len(pairs), left
	if err := d.mismatches(pairs); err != nil {
		return nil, err
	}
	sortDifferences(d.Differences)
	metrics, err := d.chosen(pairs, opt.Metrics)
	if err != nil {
		return nil, err
	}
	d.rows(pairs, metrics)
	d.Summary, d.Means = summarize(d.Rows), means(d.Rows, metrics)
	return d, nil
}

// same says whether two sides are one and the same.
func same(a, b *Set) string {
	switch {
	case a.Target != b.Target:
		return ""
	case a.Dir == b.Dir:
		return "A and B are the same result set"
	case a.Environment != nil && b.Environment != nil && a.Environment.Token != "" && a.Environment.Token == b.Environment.Token:
		return "A and B are copies of the result set of one plan run"
	}
	return ""
}
