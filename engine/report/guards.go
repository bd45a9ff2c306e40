package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// distinct is how many different runs there are: a guard of two loads can break twice in one.
func distinct(runs []*record.Run) int {
	seen := map[*record.Run]bool{}
	for _, r := range runs {
		seen[r] = true
	}
	return len(seen)
}

// inRuns says how many runs, and of which cells; all of them need no names.
func (b *builder) inRuns(runs []*record.Run) Text {
	n, all := distinct(runs), 0
	for _, r := range b.in.Runs {
		if r.Status.HasResults() {
			all++
		}
	}
	if n == all && n > 1 {
		return text("all " + plural.Of(n, "run"))
	}
	return text(plural.Of(n, "run")+" of ", b.cellsOf(runs))
}

func (b *builder) cellsOf(runs []*record.Run) Text {
	var names []string
	for _, r := range runs {
		if n := b.name(r.Coord); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return some(names, 5)
}

// upper makes the first letter a capital.
func upper(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// guards is the section of guards and self-checks: what did not hold with what was seen, and how many did.
func guards(b *builder) ([]Section, error) {
	bad, held := b.broken(guardsOf)
	checks, right := b.broken(checksOf)
	if len(bad)+len(checks)+held+right+len(b.leftOut().Rows) == 0 {
		return nil, nil
	}
	s := Section{Title: "Can it be trusted"}
	t := Table{Columns: []Column{{Title: "run"}, {Title: "guard"}, {Title: "what was seen"}, {Title: "so"}}}
	for _, list := range [][]*broken{bad, checks} {
		for _, g := range list {
			so := taintWord(g.guard.Taints)
			if slices.Contains(checks, g) {
				so = "the harness itself did not work"
			}
			for _, x := range b.rowsOf(g) {
				t.Rows = append(t.Rows, row(x[0], g.guard.Name, dashed(x[1]), so))
			}
		}
	}
	s.Blocks = append(s.Blocks, Paragraph{text(fmt.Sprintf("%s held, %d did not; %s of the harness held, %d did not.",
		plural.Of(held, "guard"), instances(bad), plural.Of(right, "self-check"), instances(checks)))})
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	s.Blocks = append(s.Blocks, b.bothSides()...)
	if left := b.leftOut(); len(left.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Seconds that the clean latencies are without"}, left,
			Paragraph{text("They are also without the first second of each window.")})
	}
	return []Section{s}, nil
}

// leftOut names the seconds that p99_clean_ms and its like leave out.
func (b *builder) leftOut() Table {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "from", Right: true}, {Title: "why"}}}
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			if r := b.runs[id]; r != nil {
				for _, l := range r.LeftOut {
					if strings.Contains(l.Why, "first second") { // every run has one
						continue
					}
					t.Rows = append(t.Rows, row(b.runName(r), seconds(l.T), dash(l.Why)))
				}
			}
		}
	}
	return t
}

// rowsOf are the runs of a broken guard with what was seen: each of its own where it taints, together by cell where it only
// warns.
func (b *builder) rowsOf(g *broken) (out [][2]Text) {
	if g.guard.Taints != "" {
		for i, r := range g.runs {
			out = append(out, [2]Text{text(b.runName(r)), text(g.seens[i].Message)})
		}
		return out
	}
	var last *broken
	var cells []*broken
	for i, r := range g.runs {
		if last == nil || b.name(last.runs[0].Coord) != b.name(r.Coord) {
			last = &broken{}
			cells = append(cells, last)
		}
		last.runs, last.seens = append(last.runs, r), append(last.seens, g.seens[i])
	}
	for _, c := range cells {
		of := b.name(c.runs[0].Coord) + ", " + plural.Of(distinct(c.runs), "run")
		if len(c.runs) == 1 {
			of = b.runName(c.runs[0])
		}
		out = append(out, [2]Text{text(of), c.seen()})
	}
	return out
}

func instances(list []*broken) (n int) {
	for _, g := range list {
		n += len(g.runs)
	}
	return n
}
