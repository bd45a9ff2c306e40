package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/plural"
)

// mostCrowds bounds the cells that are named.
const mostCrowds = 3

// crowded says in the findings where requests waited for a connection, the worst first, and what is without some runs.
func (b *builder) crowded(all, partial []*crowd) (items []Text, err error) {
	for i, c := range all {
		if i == mostCrowds {
			items = append(items, text("Requests waited for a connection also in ", b.otherCrowds(all[mostCrowds:]), "."))
			break
		}
		item, err := b.crowdSentence(c)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	if len(items) > 0 {
		last := &items[len(items)-1]
		*last = append(*last, text(" A request counts where it was due in ", mono("req_per_s"), ", and from when it was sent in ", mono("slow_over_1s"), ": neither shows a wait.")...)
	}
	return append(items, b.withoutRuns(partial)...), nil
}

// otherCrowds counts the cells that have no sentence of their own, and keeps what each came to.
func (b *builder) otherCrowds(all []*crowd) Span {
	rest := make([]Text, len(all))
	for i, c := range all {
		rest[i] = text(fmt.Sprintf("%s (%s of %s due)", b.name(c.cell.Coord), grouped(float64(c.waited)), grouped(float64(c.due))))
	}
	return Span{Text: plural.Of(len(all), "more cell"), Rest: rest}
}

// withoutRuns says of which runs requests are not in the sentences about waits, which the metric waited may count.
func (b *builder) withoutRuns(partial []*crowd) (items []Text) {
	var stalled, unknown []*record.Run
	waited := int64(0)
	for _, c := range partial {
		unknown = append(unknown, c.unknown...)
		for _, r := range c.stalled {
			stalled, waited = append(stalled, r.run), waited+r.waited
		}
	}
	if len(stalled) > 0 {
		items = append(items, text("What is said of waits for a connection is without ", b.inRuns(stalled), fmt.Sprintf(": the load generator's own delay in sending went above %d ms and may be why requests waited (%s by the metric ", ownStall, grouped(float64(waited))), mono("waited"), ")."))
	}
	if len(unknown) > 0 {
		items = append(items, text("How many requests waited for a connection is not known of ", b.inRuns(unknown), ": they were recorded before there was the metric ", mono("waited"), "."))
	}
	return items
}

// crowdSentence: Requests waited for a free connection in churn / a (32 connections): 900 of 2,000 due (45 %), for longer than 50 ms
// or without being sent at all, in 2 of 3 runs, most in repeat 2; the longest wait there, at least 3,002 ms, was of those due from 1.1 s
// to 4.1 s, and from 2.1 s to 4.1 s none was sent, as no connection became free.
func (b *builder) crowdSentence(c *crowd) (Text, error) {
	all, err := b.waitedSeconds(c)
	if err != nil {
		return nil, err
	}
	in, worst := c.in(0), c.worst()
	t := text(strong("Requests waited for "+c.lacked()+" in "+b.name(c.cell.Coord)), fmt.Sprintf(" (%s): %s of %s due (%s), for longer than %d ms or without being sent at all, in %d of %s",
		pool(c.spec), grouped(float64(c.waited)), grouped(float64(c.due)), percent(c.share()), record.LongWait.Milliseconds(), in, plural.Of(len(c.runs), "run")))
	if n := len(c.stalled) + len(c.unknown); n > 0 {
		t = text(t, fmt.Sprintf(" (%s left out)", plural.Of(n, "more run")))
	}
	if which := b.which(worst.Coord.Round, worst.Coord.Repeat); in > 1 {
		t = text(t, ", most in "+which)
	} else {
		t = text(t, ", "+which)
	}
	w := worstWait(all)
	switch {
	case len(all) == 0: // its samples are not to be had
		return text(t, "."), nil
	case w.longest == 0:
		return text(t, "; none of those that waited there was ever sent."), nil
	}
	t = text(t, fmt.Sprintf("; the longest wait there, at least %s, was of those due from %s to %s", waitWords(w.longest), seconds(w.from), seconds(w.to)))
	if w.noneTo > w.noneFrom {
		t = text(t, fmt.Sprintf(", and from %s to %s none was sent, as no connection became free", seconds(w.noneFrom), seconds(w.noneTo)))
	}
	return text(t, "."), nil
}

func waitWords(d time.Duration) string { return number(float64(d)/1e6, series.Timing) + " ms" }

// lacked is what requests wait for.
func (c *crowd) lacked() string {
	if c.spec.Reuse {
		return "a free connection"
	}
	return "a connection of their own"
}

// waitedSeconds reads those of the worst run of a crowd, in order of time.
func (b *builder) waitedSeconds(c *crowd) ([]record.WaitedSecond, error) {
	if b.in.Waited == nil || c.waited == 0 {
		return nil, nil
	}
	id := c.worst().ID
	all, err := b.in.Waited(id)
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", id, err)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(s record.WaitedSecond) bool {
		return record.LoadName(s.Load) != c.load || c.phase != "" && c.phase != s.Phase
	})
	slices.SortStableFunc(all, func(x, y record.WaitedSecond) int { return cmp.Compare(x.T, y.T) })
	return all, nil
}

// A wait is the longest of a run, and when.
type wait struct {
	longest          time.Duration // 0 if none of those that waited was sent
	from, to         float64       // requests waited in each second of it
	noneFrom, noneTo float64       // the longest time in it in which none was sent; both 0 if there is none
}

func byLongest(x, y record.WaitedSecond) int { return cmp.Compare(x.Longest, y.Longest) }

// worstWait finds the longest wait, and the seconds around it.
func worstWait(all []record.WaitedSecond) (w wait) {
	for _, s := range stretches(all, func(record.WaitedSecond) bool { return true }) {
		if longest := slices.MaxFunc(s, byLongest).Longest; longest > w.longest {
			w = wait{longest: longest, from: s[0].T, to: s[len(s)-1].T + 1}
			for _, none := range stretches(s, func(s record.WaitedSecond) bool { return s.Sent == 0 }) {
				if from, to := none[0].T, none[len(none)-1].T+1; to-from > w.noneTo-w.noneFrom {
					w.noneFrom, w.noneTo = from, to
				}
			}
		}
	}
	return w
}

// stretches are the seconds that follow one another and are all as wanted.
func stretches(all []record.WaitedSecond, want func(record.WaitedSecond) bool) (out [][]record.WaitedSecond) {
	open := false
	for _, s := range all {
		switch {
		case !want(s):
			open = false
			continue
		case open && s.T <= out[len(out)-1][len(out[len(out)-1])-1].T+1.5:
			out[len(out)-1] = append(out[len(out)-1], s)
		default:
			out = append(out, []record.WaitedSecond{s})
		}
		open = true
	}
	return out
}
