package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// sentInTime is the least share of the requests due in a window that are sent in it where nothing keeps them waiting.
const sentInTime = 0.98

// ownStall is the generator's own delay in sending, in milliseconds, above which it may be what kept requests waiting.
const ownStall = 500

// A crowd is what of a cell's requests of one open loop waited for a connection.
type crowd struct {
	cell        *record.Cell
	spec        load.Spec
	headline    bool
	waited, due int64
	in, of      []*record.Run         // in which some waited, and all that have the load
	worst       *record.Run           // with the longest wait
	longest     time.Duration         // in it; 0 if none of those that waited was sent
	seconds     []record.WaitedSecond // of it
}

func (c *crowd) share() float64 { return float64(c.waited) / float64(max(c.due, 1)) }

// mostCrowds bounds the cells that are named.
const mostCrowds = 3

// crowded says in the findings where requests waited for a connection, the worst first.
func (b *builder) crowded(all []*crowd) (items []Text) {
	for i, c := range all {
		if i == mostCrowds {
			items = append(items, text("Requests waited for a connection also in ", b.otherCrowds(all[mostCrowds:]), "."))
			break
		}
		items = append(items, b.crowdSentence(c))
	}
	if len(items) > 0 {
		last := &items[len(items)-1]
		*last = append(*last, text(" A request counts where it was due in ", mono("req_per_s"), ", and from when it was sent in ", mono("slow_over_1s"), ": neither shows a wait.")...)
	}
	return items
}

// otherCrowds counts the cells that have no sentence of their own, and keeps what each came to.
func (b *builder) otherCrowds(all []*crowd) Span {
	rest := make([]Text, len(all))
	for i, c := range all {
		rest[i] = text(fmt.Sprintf("%s (%s of %s due)", b.name(c.cell.Coord), grouped(float64(c.waited)), grouped(float64(c.due))))
	}
	return Span{Text: plural.Of(len(all), "more cell"), Rest: rest}
}

// crowds are the cells in which so many requests waited for a connection that latencies are of the wait, each by its worst load; the
// worst first.
func (b *builder) crowds() (all []*crowd, err error) {
	for i := range b.res.Cells {
		of, err := b.crowdsOf(&b.res.Cells[i], "")
		if err != nil {
			return nil, err
		}
		if len(of) == 0 {
			continue
		}
		if c := slices.MaxFunc(of, byShare); c.share() >= stats.DistortedAbove {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y *crowd) int { return byShare(y, x) })
	return all, nil
}

func byShare(x, y *crowd) int { return cmp.Compare(x.share(), y.share()) }

// crowdSentence: Requests waited for a free connection in churn / a (32 connections): 900 of 2,000 due (45 %) for longer than 50 ms,
// in 1 of 3 runs; the longest wait, 3,002 ms, was in repeat 2, of those due from 1.1 s to 4.1 s, and from 2.1 s to 4.1 s none was sent.
func (b *builder) crowdSentence(c *crowd) Text {
	t := text(strong("Requests waited for "+c.lacked()+" in "+b.name(c.cell.Coord)), fmt.Sprintf(" (%s): %s of %s due (%s) for longer than %d ms, in %d of %s",
		pool(c.spec), grouped(float64(c.waited)), grouped(float64(c.due)), percent(c.share()), record.LongWait.Milliseconds(), len(c.in), plural.Of(len(c.of), "run")))
	if c.longest == 0 {
		return append(t, text("; none of them was ever sent.")...)
	}
	from, to := c.stretch(func(record.WaitedSecond) bool { return true })
	t = append(t, text(fmt.Sprintf("; the longest wait, %s, was in %s, of those due from %s to %s", waitWords(c.longest), b.which(c.worst.Coord.Round, c.worst.Coord.Repeat), seconds(from), seconds(to)))...)
	if from, to := c.stretch(func(s record.WaitedSecond) bool { return s.Sent == 0 }); to > from {
		t = append(t, text(fmt.Sprintf(", and from %s to %s none was sent, as no connection became free", seconds(from), seconds(to)))...)
	}
	return append(t, text(".")...)
}

func waitWords(d time.Duration) string { return number(float64(d)/1e6, series.Timing) + " ms" }

// lacked is what requests wait for.
func (c *crowd) lacked() string {
	if c.spec.Reuse {
		return "a free connection"
	}
	return "a connection of their own"
}

// stretch is the longest time, in whole seconds of the worst run one after another, of which all are as wanted.
func (c *crowd) stretch(want func(record.WaitedSecond) bool) (from, to float64) {
	var first, last float64
	open := false
	for _, s := range c.seconds {
		if !want(s) {
			open = false
			continue
		}
		if !open || s.T > last+1.5 {
			first = s.T
		}
		open, last = true, s.T
		if last+1-first > to-from {
			from, to = first, last+1
		}
	}
	return from, to
}

// headlineCrowd is that of the headline load of a cell of which the largest share waited; nil if none is known.
func (b *builder) headlineCrowd(cell *record.Cell, phase string) (*crowd, error) {
	all, err := b.crowdsOf(cell, phase)
	all = slices.DeleteFunc(all, func(c *crowd) bool { return !c.headline })
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return slices.MaxFunc(all, byShare), nil
}

// crowdsOf are those of a cell, of each of its open loops one; in one phase, or in all if it is "". Where the generator itself
// stalled for long nothing is known of waits.
func (b *builder) crowdsOf(cell *record.Cell, phase string) (out []*crowd, err error) {
	if b.ownLag(cell) > ownStall {
		return nil, nil
	}
	at := map[string]*crowd{}
	for _, id := range cell.Runs {
		r := b.runs[id]
		if r == nil || !r.Status.HasResults() {
			continue
		}
		all, err := b.waitedSeconds(r)
		if err != nil {
			return nil, err
		}
		for _, l := range r.Loads {
			if len(l.Spec.Rate) == 0 {
				continue
			}
			name := record.LoadName(l.Name)
			c := at[name]
			if c == nil {
				c = &crowd{cell: cell, spec: l.Spec, headline: l.Headline}
				at[name], out = c, append(out, c)
			}
			c.add(r, &l, phase, all)
		}
	}
	return out, nil
}

// add adds a load of a run.
func (c *crowd) add(r *record.Run, l *record.Load, phase string, all []record.WaitedSecond) {
	if !slices.Contains(c.of, r) {
		c.of = append(c.of, r)
	}
	for p, n := range l.Totals {
		if r.Counts(l, p) && (phase == "" || phase == p) {
			c.due += n.Due
		}
	}
	var seconds []record.WaitedSecond
	longest := time.Duration(0)
	for _, s := range all {
		if s.Load == l.Name && (phase == "" || phase == s.Phase) {
			c.waited, longest, seconds = c.waited+s.Waited, max(longest, s.Longest), append(seconds, s)
		}
	}
	if len(seconds) == 0 {
		return
	}
	if !slices.Contains(c.in, r) {
		c.in = append(c.in, r)
	}
	if c.worst == nil || longest > c.longest {
		c.worst, c.longest, c.seconds = r, longest, seconds
	}
}

// waitedSeconds reads those of a run, where its figures tell that there may be any.
func (b *builder) waitedSeconds(r *record.Run) ([]record.WaitedSecond, error) {
	if out, ok := b.waited[r.ID]; ok || b.in.Waited == nil || !mayHaveWaited(r) {
		return out, nil
	}
	out, err := b.in.Waited(r.ID)
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", r.ID, err)
	}
	b.waited[r.ID] = out
	return out, nil
}

// mayHaveWaited tells runs of open loops in which a request was sent late, or may never have been.
func mayHaveWaited(r *record.Run) bool {
	open := false
	for _, l := range r.Loads {
		for _, n := range l.Totals {
			if len(l.Spec.Rate) > 0 && n.Errors[load.Timeout]+n.Errors[load.Dropped] > 0 {
				return true
			}
		}
		open = open || len(l.Spec.Rate) > 0
	}
	for _, w := range r.Metrics {
		if lag, ok := w.Get("lag_max_ms"); open && ok && lag > float64(record.LongWait)/1e6 {
			return true
		}
	}
	return false
}
