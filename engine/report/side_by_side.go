package report

import (
	"cmp"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// What bounds the table of all targets.
const (
	mostSideRows = 30
	mostSides    = 8
)

// sideBySide is a line for each scenario with the metric by which its targets are compared: the best one's value, and of
// each other its ratio to the best.
func sideBySide(b *builder) ([]Section, error) {
	all := slices.DeleteFunc(slices.Clone(b.contests()), func(c *contest) bool { return !c.decided() })
	by := append([]string{"scenario"}, append(slices.Clone(b.axes), "stage")...)
	slices.SortStableFunc(all, func(x, y *contest) int { // a stage beside its repeat
		switch {
		case b.before(x.units[0], y.units[0], by):
			return -1
		case b.before(y.units[0], x.units[0], by):
			return 1
		}
		return 0
	})
	var targets []string
	for _, c := range all {
		for _, u := range c.units {
			if t := u.at("target"); !slices.Contains(targets, t) {
				targets = append(targets, t)
			}
		}
	}
	slices.SortStableFunc(targets, func(x, y string) int { return cmp.Compare(b.rank["target"][x], b.rank["target"][y]) })
	if len(targets) < 2 {
		return nil, nil
	}
	undrawn := targets[min(len(targets), mostSides):]
	targets = targets[:min(len(targets), mostSides)]
	t := Table{Columns: []Column{{Title: "scenario"}, {Title: "metric"}}}
	for _, name := range targets {
		t.Columns = append(t.Columns, Column{Title: oneLine(name), Right: true})
	}
	for _, c := range all[:min(len(all), mostSideRows)] {
		t.Rows = append(t.Rows, b.sides(c, targets))
	}
	s := Section{Title: "Side by side", Blocks: []Block{t, Paragraph{text("The best one's value, and each other's ratio to it. ~ is within the noise of these two in this stage, ? is not to be trusted or its noise is not known.")}}}
	if more := len(all) - mostSideRows; more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(plural.Of(more, "more line") + plural.Verb(more, " is not shown; the tables have it.", " are not shown; the tables have them."))})
	}
	if len(undrawn) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Not shown: " + oneLine(and(undrawn)) + ".")})
	}
	return []Section{s}, nil
}

// sides is the line of a contest.
func (b *builder) sides(c *contest, targets []string) []Text {
	line := row(c.where, text(mono(b.header(c.metric))))
	for _, target := range targets {
		i := slices.IndexFunc(c.units, func(u unit) bool { return u.at("target") == target })
		if i < 0 {
			line = append(line, text("-"))
			continue
		}
		r := b.read(c.units[i], c.metric)
		switch {
		case r.Why != "":
			line = append(line, text("n/a", b.note(r.Why)))
		case c.same && r.Value == c.between.Of.Value:
			line = append(line, text(number(r.Value, b.desc(c.metric.Metric).Class)))
		case target == c.first && c.nobody == "":
			line = append(line, text(strong(number(r.Value, b.desc(c.metric.Metric).Class))))
		default:
			x := b.compare(c.units, record.Ratio{Of: target, To: record.Against{Target: c.first}}, c.metric)
			if x.Ratio.NA != "" {
				line = append(line, text(number(r.Value, b.desc(c.metric.Metric).Class)+" (no ratio)", b.note(x.Ratio.NA)))
				break
			}
			line = append(line, text(x.value()+sureness[x.Outcome()]))
		}
	}
	return line
}

// sureness is what stands behind a ratio that is not simply beyond the noise.
var sureness = map[compare.Outcome]string{compare.WithinNoise: " ~", compare.Unknown: " ?", compare.Untrusted: " ?"}
