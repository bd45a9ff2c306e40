package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// facts are what a page shows at its head.
func (b *builder) facts() (out []Fact) {
	put := func(name string, parts ...any) { out = append(out, Fact{name, text(parts...)}) }
	style, word := Good, "complete"
	switch {
	case b.res.Exit == 3:
		style = Doubtful
	case b.res.Exit != 0:
		style = Bad
	}
	if b.res.Exit == 0 && !b.gated() { // nothing was judged that could have made it another one
		put("exit", "0, no gates")
	} else {
		put("exit", Span{Text: fmt.Sprint(b.res.Exit), Style: style})
	}
	n := map[string]int{}
	for _, j := range b.res.Verdicts {
		n[j.Outcome]++
	}
	var words []Text
	for _, o := range record.Outcomes {
		if n[o] > 0 {
			words = append(words, text(grouped(float64(n[o]))+" ", badge(o)))
		}
	}
	if len(words) > 0 {
		put("verdicts", join(words, ", "))
	}
	if !b.res.Complete {
		style, word = Doubtful, "not complete"
	} else {
		style = Good
	}
	put("result set", Span{Text: word, Style: style})
	if i := b.imported(); i != nil {
		put("published, not measured here", plural.Of(i.Rows, "figure")+" of "+plural.Of(len(b.res.Cells), "cell"))
		put("imported", b.in.Environment.Start.UTC().Format("2006-01-02 15:04 UTC"))
		put("by", "planrun "+b.in.Environment.Planrun)
		return out
	}
	put("measured", plural.Of(len(b.in.Runs), "run")+" of "+plural.Of(len(b.res.Cells), "cell"))
	if e := b.in.Environment; e != nil {
		put("begun", e.Start.UTC().Format("2006-01-02 15:04 UTC"))
		put("on", fmt.Sprintf("%s, %d x %s", dash(e.Hostname), e.CPUs, dash(e.CPUModel)))
		put("by", "planrun "+e.Planrun)
	}
	return out
}
