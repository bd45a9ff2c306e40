package diff

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
)

// A Diff is what the comparison of two sides gives, each of one set or of several.
type Diff struct {
	A, B        *Set
	Same        string // why the two sets are one and the same; empty if they are not
	Forced      bool   // it was asked for in spite of Mismatches
	Differences []Difference
	Mismatches  []Mismatch
	Cells       int // matched ones
	Unmatched   []Unmatched
	Lacking     []string // sets that have no results of cells that others of their side have
	Rows        []Row    // what got worse first
	Summary     Summary
	Means       []Mean
}

// CompareOptions say what is compared; the zero value compares the usual metrics of all cells.
type CompareOptions struct {
	Only    func(record.Coord) bool // the cells; nil is all
	Metrics []string                // patterns of metrics, as in "p99_ms", "*_ms" or "phase/fault/p99_ms.min"; nil is the usual ones
}

// Compare compares two sides. Its errors are a NoMetric, a pattern that is none, a set that is named twice on a side, or runs
// that cannot be read.
func Compare(a, b *Set, opt CompareOptions) (*Diff, error) {
	d := &Diff{A: a, B: b}
	if err := d.named(); err != nil {
		return nil, err
	}
	d.Differences = append(environments(a.Environment, b.Environment), programs(a, b)...)
	d.Differences = append(d.Differences, plans(a, b)...)
	pairs, left := match(a, b, opt.Only)
	d.Cells, d.Unmatched = len(pairs), left
	d.Differences = append(d.Differences, hostSpeeds(pairs)...)
	d.mismatches(pairs)
	d.further("A", a, opt.Only)
	d.further("B", b, opt.Only)
	d.Lacking = append(lacking(pairs, func(p pair) []part { return p.partsA }, a), lacking(pairs, func(p pair) []part { return p.partsB }, b)...)
	sortDifferences(d.Differences)
	metrics, err := d.chosen(pairs, opt.Metrics)
	if err != nil {
		return nil, err
	}
	d.rows(pairs, metrics)
	d.Summary, d.Means = summarize(d.Rows), means(d.Rows, metrics)
	return d, nil
}

// named looks for sets that were named more than once.
func (d *Diff) named() error {
	for _, side := range []*Set{d.A, d.B} {
		for i, x := range side.all() {
			for _, y := range side.all()[:i] {
				if same(x, y) != "" {
					return fmt.Errorf("%s and %s are one result set; further sets of a side are other ones of the same thing", y.Name, x.Name)
				}
			}
		}
	}
	for _, x := range d.A.all() {
		for _, y := range d.B.all() {
			if d.Same = same(x, y); d.Same != "" && len(d.A.More)+len(d.B.More) > 0 {
				d.Same = fmt.Sprintf("%s of A and %s of B are the same result set", x.Name, y.Name)
			}
			if d.Same != "" {
				return nil
			}
		}
	}
	return nil
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
