package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// What the table of failing seconds is bounded by: runs, and seconds of each.
const (
	mostFailing        = 6
	mostFailingSeconds = 12
)

// failingTable says of each second in which requests failed how they failed, and what was done or happened beside it, in the
// worst run of each of the worst cells. More is how many seconds are left out.
func (b *builder) failingTable() (t Table, more int, err error) {
	t = Table{Columns: []Column{{Title: "run"}, {Title: "due within"}, {Title: "phase"}, {Title: "failed", Right: true}, {Title: "by code and class"}, {Title: "beside it"}}}
	if b.in.Failed == nil {
		return t, 0, nil
	}
	places, _, _ := b.places()
	for _, p := range places[:min(len(places), mostFailing)] {
		all, err := b.in.Failed(p.worst.ID)
		if err != nil {
			return t, 0, fmt.Errorf("reading run %s: %w", p.worst.ID, err)
		}
		shown := worstSeconds(all)
		more += len(all) - len(shown)
		for _, s := range shown {
			beside, err := b.besideSecond(p.worst, s)
			if err != nil {
				return t, 0, err
			}
			t.Rows = append(t.Rows, row(b.runName(p.worst), second(s.T), oneLine(record.PhaseWords(s.Phase)), grouped(float64(failedOf(s.Counts))), classes(s.Counts), dashed(join(beside, "\n"))))
		}
	}
	return t, more, nil
}

// worstSeconds are those in which most failed, in order of time.
func worstSeconds(all []record.FailedSecond) []record.FailedSecond {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(x, y record.FailedSecond) int { return cmp.Compare(failedOf(y.Counts), failedOf(x.Counts)) })
	out = out[:min(len(out), mostFailingSeconds)]
	slices.SortStableFunc(out, func(x, y record.FailedSecond) int { return cmp.Compare(x.T, y.T) })
	return out
}

// besideSecond is what stands beside a second, until its requests were over; what is no cause of a failure does not hide that
// there is none.
func (b *builder) besideSecond(r *record.Run, s record.FailedSecond) ([]Text, error) {
	lines, err := b.beside(r, s.T, s.Over)
	if s.Unexplained > 0 {
		lines = append([]Text{text("nothing that explains it")}, lines...)
	}
	return lines, err
}
