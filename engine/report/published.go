package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// publishedSections are those of a report of published figures: what is said of runs that planrun watched is not said of
// them.
var publishedSections = []func(*builder) ([]Section, error){
	findings,
	sideBySide,
	overview,
	planned,
	pictures,
	gaps,
	besides,
	publishedTargets,
	publishedScenarios,
	whence,
	importAgain,
}

// imported says where published figures come from; nil of what planrun measured.
func (b *builder) imported() *record.Imported {
	if b.in.Environment == nil {
		return nil
	}
	return b.in.Environment.Imported
}

// notMeasured opens the findings of published figures.
func (b *builder) notMeasured() []Text {
	i := b.imported()
	if i == nil {
		return nil
	}
	return []Text{text(strong("Published figures, not measured here"), ": "+oneLine(i.By)+". planrun read them from ", mono(filepath.Base(i.File)), " and compared them; it ran nothing.")}
}

// publishedFailures lists where requests failed, by what was published.
func (b *builder) publishedFailures() []Text {
	const most = 4
	type cell struct {
		at     string
		failed float64
		share  string
	}
	var bad []cell
	told := 0
	for i := range b.res.Cells {
		c := &b.res.Cells[i]
		failed := compare.Read(c, "", compare.ParseName("failed"))
		if failed.Why != "" {
			failed = compare.Read(c, "", compare.ParseName("errors"))
		}
		if failed.Why != "" {
			continue
		}
		told++
		if failed.Value > 0 {
			x := cell{b.name(c.Coord), failed.Value, ""}
			if all := compare.Read(c, "", compare.ParseName("requests")); all.Why == "" && all.Value > 0 {
				x.share = " of " + number(all.Value, series.Count) + ", " + percent(failed.Value/all.Value)
			}
			bad = append(bad, x)
		}
	}
	switch {
	case told == 0:
		return nil
	case len(bad) == 0:
		return []Text{text(fmt.Sprintf("No request failed in any of %s whose failures were published.", plural.Of(told, "cell")))}
	}
	slices.SortStableFunc(bad, func(a, b cell) int { return cmp.Compare(b.failed, a.failed) })
	t := text(fmt.Sprintf("Requests failed in %d of %s whose failures were published: ", len(bad), plural.Of(told, "cell")))
	for i, x := range bad {
		if i == most {
			t = append(t, text(fmt.Sprintf("; and %d more", len(bad)-most))...)
			break
		}
		if i > 0 {
			t = append(t, text("; ")...)
		}
		t = append(t, text(fmt.Sprintf("%s (%s%s)", x.at, number(x.failed, series.Count), x.share))...)
	}
	return []Text{append(t, text(".")...)}
}

// publishedTargets says what the targets are, as far as the plan says it.
func publishedTargets(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "target"}, {Title: "what it is"}}}
	for _, x := range b.res.Targets {
		t.Rows = append(t.Rows, row(oneLine(x.Name), dash(x.About)))
	}
	return []Section{{Title: "Targets", Blocks: []Block{t, Paragraph{text("Which versions these were is for the publication to say.")}}}}, nil
}

// publishedScenarios says what the scenarios are.
func publishedScenarios(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "scenario"}, {Title: "what it is"}}}
	for _, x := range b.res.Scenarios {
		t.Rows = append(t.Rows, row(oneLine(x.Name), dash(x.About)))
	}
	return []Section{{Title: "Scenarios", Blocks: []Block{t}}}, nil
}

// whence says where the figures come from, and what is known of single runs.
func whence(b *builder) ([]Section, error) {
	i, e := b.imported(), b.in.Environment
	t := Table{Columns: []Column{{Title: "what"}, {Title: "value"}}, Rows: [][]Text{
		row("published by", oneLine(i.By)),
		row("file", text(mono(i.File))),
		row("SHA-256 of it", text(mono(i.SHA256))),
		row("figures in it", grouped(float64(i.Rows))),
		row("imported", e.Start.UTC().Format("2006-01-02 15:04:05 UTC")),
		row("by", "planrun "+e.Planrun+", which measured none of them"),
	}}
	blocks := []Block{t, Paragraph{text("The machine, its settings and the versions of what ran are for the publication to say. A figure of all runs of a cell, of which those of single runs do not follow, has no noise: whether a ratio of it is beyond the noise is not known.")}}
	ranked := map[string]bool{}
	for _, r := range b.in.Runs {
		if r.Published != nil {
			for _, m := range r.Published.Ranked {
				ranked[m] = true
			}
		}
	}
	if names := sorted(ranked); len(names) > 0 {
		var of []Text
		for _, n := range names {
			of = append(of, text(mono(n)))
		}
		blocks = append(blocks, Paragraph{text("Of ", join(of, ", "), " the least, the median and the greatest of a cell's runs were published. These are its runs in ascending order; which run gave which is not known.")})
	}
	return []Section{{Title: "Where the figures come from", Blocks: blocks}}, nil
}

// importAgain says how to make this result set again, and what else can be done with it.
func importAgain(b *builder) ([]Section, error) {
	dir := shellQuote(b.opt.Dir)
	return []Section{{Title: "How to reproduce", Blocks: []Block{
		Paragraph{text("planrun can import the figures again", b.with(), "; only those who published them can measure them again:")},
		Code{Lines: []string{b.command() + " --out DIR"}},
		Paragraph{text("This report again, and the verdicts again (also with edited ones):")},
		Code{Lines: []string{"planrun report " + dir, "planrun judge " + dir}},
		Paragraph{text("The plan is ", mono("plan.yaml"), " in the result set; its sources and the file of figures are in ", mono("sources/"), ".")},
	}}}, nil
}
