package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/stats"
	"github.com/planrun/planrun/internal/plural"
)

// A rerun is what a metric was in two stages that ran the same cells.
type rerun struct {
	compare.Rerun
	metric  string
	unknown int          // of them, how many have too few runs to know their noise
	all     []comparison // second stage to first
	cells   []compare.Pair
	apart   []int       // of all, those beyond the noise of their runs, apart from what all of them moved together; the farthest first
	shift   stats.Shift // of all of them together
	shifted bool
}

// rerunsOf compares, in every stage that repeats another, each headline metric.
func (b *builder) rerunsOf() (out []rerun) {
	for _, r := range compare.Reruns(b.res) {
		if r.Why != "" {
			continue
		}
		byMetric := map[string]*rerun{}
		var order []string
		ratios := map[string][]float64{}
		for _, p := range r.Pairs {
			for _, name := range b.headline([]unit{{cell: p.First}, {cell: p.Second}}) {
				c := comparison{of: r.Second.Name, to: r.First.Name, Comparison: compare.Metric(compare.ParseName(name), b.desc(name),
					compare.Side{Name: oneLine(r.Second.Name), Cell: p.Second}, compare.Side{Name: oneLine(r.First.Name), Cell: p.First}, compare.Options{})}
				if c.Ratio.NA != "" {
					continue
				}
				x := byMetric[name]
				if x == nil {
					x = &rerun{Rerun: r, metric: name}
					byMetric[name], order = x, append(order, name)
				}
				if c.Ratio.Noise == stats.Unknown {
					x.unknown++
				}
				x.all, x.cells = append(x.all, c), append(x.cells, p)
				ratios[name] = append(ratios[name], c.Ratio.Value)
			}
		}
		for _, name := range order {
			x := byMetric[name]
			x.shift, x.shifted = stats.ShiftOf(ratios[name])
			x.shifted = x.shifted && x.shift.Certainly
			x.findApart()
			out = append(out, *x)
		}
	}
	return out
}

// findApart finds the cells whose two stages disagree by more than all of them do.
func (r *rerun) findApart() {
	drift := r.drift()
	for i, c := range r.all {
		x := c.Ratio
		value, low, high := x.Value/drift, x.Interval[0]/drift, x.Interval[1]/drift
		if x.Noise != stats.Unknown && (value > x.Floor && low > 1 || value < 1/x.Floor && high < 1) {
			r.apart = append(r.apart, i)
		}
	}
	slices.SortStableFunc(r.apart, func(i, j int) int { return cmp.Compare(r.distance(j), r.distance(i)) })
}

// drift is what all cells moved together, as a factor.
func (r *rerun) drift() float64 {
	if r.shifted {
		return r.shift.Mean
	}
	return 1
}

// distance is how far a cell moved apart from the drift, as a logarithm.
func (r *rerun) distance(i int) float64 { return math.Abs(math.Log(r.all[i].Ratio.Value / r.drift())) }

// farthest is the distance of the cell that disagrees most; 0 if none does.
func (r *rerun) farthest() float64 {
	if len(r.apart) == 0 {
		return 0
	}
	return r.distance(r.apart[0])
}

// stageOrder says in which order a stage ran.
func stageOrder(s record.Stage) string {
	o := dash(s.Order)
	if s.Order == "random" {
		o = fmt.Sprintf("random, seed %d", s.Seed)
	}
	if s.Together {
		o += ", together"
	}
	return o
}

func (r rerun) stages() string {
	first, second := stageOrder(r.First), stageOrder(r.Second)
	if first == second {
		return fmt.Sprintf("%s against %s (both %s)", oneLine(r.Second.Name), oneLine(r.First.Name), first)
	}
	return fmt.Sprintf("%s (%s) against %s (%s)", oneLine(r.Second.Name), second, oneLine(r.First.Name), first)
}

// besides are the words behind "beyond the noise" of a stage that drifted as a whole.
func (r rerun) besides() string {
	if !r.shifted {
		return ""
	}
	return ", apart from the drift of the whole stage"
}

// summary says how many cells disagree, and whether all went one way.
func (r rerun) summary() Text {
	t := text(r.stages()+": ", mono(r.metric), " ")
	known := len(r.all) - r.unknown
	switch {
	case known == 0:
		t = append(t, text(fmt.Sprintf("of %s cannot be told apart from noise: below %d runs a side it is unknown.", plural.Of(len(r.all), "cell"), stats.MinRuns))...)
	case len(r.apart) == 0:
		t = append(t, text(fmt.Sprintf("disagrees in none of %s beyond the noise of their runs%s.", plural.Of(known, "cell"), r.besides()))...)
	default:
		t = append(t, text(strong(fmt.Sprintf("disagrees in %d of %s", len(r.apart), plural.Of(known, "cell"))), " beyond the noise of their runs"+r.besides()+"; by chance about one in twenty-five would.")...)
	}
	if known > 0 && r.unknown > 0 {
		t = append(t, text(fmt.Sprintf(" Of %s more there are fewer than %d runs a side.", plural.Of(r.unknown, "cell"), stats.MinRuns))...)
	}
	if r.shifted {
		t = append(t, text(" ", strong("The whole stage drifted"), fmt.Sprintf(": %d of %s went the same way, to %s times on average (95 %% interval %s to %s). That is the machine at another time rather than the order of single cells, and ratios of cells of one stage do not hold it.",
			r.shift.Along, plural.Of(len(r.all), "cell"), factor(r.shift.Mean), factor(r.shift.Interval.Low), factor(r.shift.Interval.High)))...)
	}
	return t
}

// mostApart bounds the rows of the table of cells that disagree, those that moved farthest first.
const mostApart = 50

// reruns says what stages that ran the same cells say of each other: effects of the order, and drift.
func (b *builder) reruns() []Block {
	var items []Text
	t := Table{Columns: append([]Column{{Title: "cell"}, {Title: "metric"}, {Title: "first in"}, {Title: "value", Right: true}, {Title: "then in"}, {Title: "value", Right: true}}, ratioColumns...)}
	for _, r := range compare.Reruns(b.res) {
		if r.Why != "" {
			items = append(items, text(fmt.Sprintf("%s is no repeat of %s: %s.", oneLine(r.Second.Name), oneLine(r.First.Name), oneLine(r.Why))))
		}
	}
	type line struct {
		by  float64
		row []Text
	}
	var lines []line
	for _, r := range b.rerunsOf() {
		items = append(items, r.summary())
		for _, i := range r.apart {
			lines = append(lines, line{r.distance(i), b.rerunRow(r, i)})
		}
	}
	slices.SortStableFunc(lines, func(x, y line) int { return cmp.Compare(y.by, x.by) })
	for _, l := range lines[:min(len(lines), mostApart)] {
		t.Rows = append(t.Rows, l.row)
	}
	if len(items) == 0 {
		return nil
	}
	blocks := []Block{Heading{"The same cells in another stage"}, List{items}}
	if len(t.Rows) > 0 {
		blocks = append(blocks, withoutEmpty(t))
	}
	if more := len(lines) - len(t.Rows); more > 0 {
		blocks = append(blocks, Paragraph{text(fmt.Sprintf("And %d more, which moved by less.", more))})
	}
	return blocks
}

// rerunRow is the line of a cell that disagrees.
func (b *builder) rerunRow(r rerun, i int) []Text {
	c := r.all[i]
	coord, class := r.cells[i].First.Coord, b.desc(r.metric).Class
	coord.Stage = ""
	return append(row(b.name(coord), text(mono(r.metric)), r.First.Name+" ("+stageOrder(r.First)+")", number(c.To.Value, class), r.Second.Name+" ("+stageOrder(r.Second)+")", number(c.Of.Value, class)),
		text(c.value()), text(r.says(i), b.spoilt(c)), text(c.span()), text(c.interval()))
}

// says how far beyond its noise floor a cell that disagrees is: apart from the drift of the whole stage, if there was one.
func (r *rerun) says(i int) string {
	x := r.all[i].Ratio
	if !r.shifted {
		return "beyond the noise floor of " + factor(x.Floor)
	}
	return fmt.Sprintf("apart from the drift of the whole stage %s, beyond the noise floor of %s", factor(x.Value/r.drift()), factor(x.Floor))
}

// mostReruns bounds the findings about repeated stages.
const mostReruns = 4

// disagreed says in the findings where repeated stages disagree.
func (b *builder) disagreed() (items []Text) {
	all := slices.DeleteFunc(b.rerunsOf(), func(r rerun) bool { return len(r.apart) == 0 && !r.shifted })
	slices.SortStableFunc(all, func(x, y rerun) int { return cmp.Compare(y.farthest(), x.farthest()) })
	for i, r := range all {
		if i == mostReruns {
			return append(items, text("And "+plural.Of(len(all)-i, "more disagreement")+" of stages; see Noise."))
		}
		var names []string
		for _, i := range r.apart {
			c := r.all[i]
			coord, class := r.cells[i].First.Coord, b.desc(r.metric).Class
			coord.Stage = ""
			names = append(names, fmt.Sprintf("%s (%s, then %s)", b.name(coord), number(c.To.Value, class), number(c.Of.Value, class)))
		}
		t := r.summary()
		if len(names) > 0 {
			t = append(t, text(" ", list(names, 3), ".")...)
		}
		t = append(t, b.limits(r)...)
		items = append(items, t)
	}
	return items
}

// limits says of each verdict that holds one of the two stages against the other in the metric of a rerun for how many of its cells it
// fails: by a limit of its own, so that these are other cells.
func (b *builder) limits(r rerun) (t Text) {
	apart := map[string]bool{} // by cell, of those whose noise is known
	for i, p := range r.cells {
		if disagrees := slices.Contains(r.apart, i); r.all[i].Ratio.Noise != stats.Unknown {
			apart[p.First.Coord.CellName()], apart[p.Second.Coord.CellName()] = disagrees, disagrees
		}
	}
	type count struct{ failed, among int }
	by := map[string]*count{}
	var order []string
	for _, j := range b.res.Verdicts {
		if j.Outcome != record.Fail || !slices.Contains(asks(j), r.metric) || !reads(j, r.First.Name) && !reads(j, r.Second.Name) {
			continue
		}
		disagrees, compared := apart[j.Coord.CellName()]
		if !compared {
			continue
		}
		if by[j.Verdict] == nil {
			by[j.Verdict], order = &count{}, append(order, j.Verdict)
		}
		by[j.Verdict].failed++
		if disagrees {
			by[j.Verdict].among++
		}
	}
	for _, name := range order {
		n := by[name]
		t = append(t, text(" The verdict ", quoted(name), fmt.Sprintf(" has a limit of its own: it fails for %s, %d that disagree and %d within the noise.", plural.Of(n.failed, "cell"), n.among, n.failed-n.among))...)
	}
	return t
}

// reads reports whether a judgement reads a stage by its name.
func reads(j record.Judgement, stage string) bool {
	name := fmt.Sprintf("stage(%q)", stage)
	return strings.Contains(j.Expression, name) || slices.ContainsFunc(slices.Concat(j.Let, j.Operands), func(o record.Operand) bool { return strings.Contains(o.Text, name) || strings.Contains(o.Value, name) })
}
