package report

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// errorClasses are in the order in which they are shown.
var errorClasses = []string{load.Connect, load.TLS, load.Reset, load.Timeout, load.Protocol, load.Mismatch, load.Dropped}

func failedOf(c load.Counts) (n int64) {
	for _, k := range c.Non2xx {
		n += k
	}
	for _, k := range c.Errors {
		n += k
	}
	return n
}

func add(sum *load.Counts, c load.Counts) {
	if sum.Non2xx == nil {
		sum.Non2xx, sum.Errors = map[int]int64{}, map[string]int64{}
	}
	sum.Due += c.Due
	sum.OK += c.OK
	sum.Generator += c.Generator
	for k, v := range c.Non2xx {
		sum.Non2xx[k] += v
	}
	for k, v := range c.Errors {
		sum.Errors[k] += v
	}
}

// classes says what failed: "12 answered 502, 3 reset".
func classes(c load.Counts) string {
	var parts []string
	for _, code := range sorted(c.Non2xx) {
		if n := c.Non2xx[code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s answered %d", grouped(float64(n)), code))
		}
	}
	names := slices.Clone(errorClasses)
	for _, k := range sorted(c.Errors) {
		if !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	for _, k := range names {
		if n := c.Errors[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", grouped(float64(n)), k))
		}
	}
	return strings.Join(parts, ", ")
}

// mostFailures bounds the rows of the table of failures, the record of each run has them all.
const mostFailures = 100

// failures are by run, load and phase, by status code and class; and when, of the worst runs.
func failures(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "load"}, {Title: "phase"}, {Title: "requests", Right: true}, {Title: "failed", Right: true}, {Title: "by code and class"}, {Title: "failed ones took up to (ms)", Right: true}, {Title: "not sent by the generator", Right: true}}}
	var examples []Text
	seen := map[string]bool{}
	more := 0
	for _, c := range b.res.Cells {
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for l, phase := range phasesOf(r) {
				n := l.Totals[phase]
				if failedOf(n) == 0 && n.Generator == 0 {
					continue
				}
				if len(t.Rows) == mostFailures {
					more++
					continue
				}
				name := oneLine(record.PhaseWords(phase))
				if !r.Counts(&l, phase) {
					name += " (does not count)"
				}
				t.Rows = append(t.Rows, row(b.runName(r), l.Name, name, grouped(float64(n.Due)), grouped(float64(failedOf(n))), dash(classes(n)), failedTook(r, l, phase), grouped(float64(n.Generator))))
			}
			for _, e := range r.Examples {
				if !seen[e] && len(examples) < 20 {
					seen[e] = true
					examples = append(examples, text(b.runName(r)+": ", mono(e)))
				}
			}
		}
	}
	if len(t.Rows) == 0 && len(examples) == 0 {
		return nil, nil
	}
	s := Section{Title: "Failures"}
	when, err := b.whenTable()
	if err != nil {
		return nil, err
	}
	if len(when.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"When, in the run of each cell in which most failed"}, when,
			Paragraph{text(fmt.Sprintf("Seconds since the run began, of the headline loads: a request that failed counts in the second in which it was due (of a closed loop: sent), which is known to a second. Beside it stands what was done or happened from %g s before the second of the first failure until its requests were over, of much the %d nearest.", record.Reach, mostBeside))})
	}
	failing, left, err := b.failingTable()
	if err != nil {
		return nil, err
	}
	if len(failing.Rows) > 0 {
		about := fmt.Sprintf("The same runs, second by second, with what stands beside each by the same rule. What fails is explained by what was done or happened up to %g s before it was due, or until it was over; the metric ", record.Reach)
		also := " counts what is not."
		if left > 0 {
			also += fmt.Sprintf(" Left out: %s in which fewer failed.", plural.Of(left, "second"))
		}
		s.Blocks = append(s.Blocks, Heading{"Second by second"}, failing, Paragraph{text(about, mono("failed_unexplained"), also)})
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"How many, and how"}, t,
			Paragraph{text("How long they took is from the moment at which the request was due, a wait for a connection included; \u201cat most\u201d where a request that succeeded took longer.")})
	}
	if more > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(fmt.Sprintf("And %s more, in the runs' run.json.", plural.Of(more, "row")))})
	}
	if len(examples) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Examples of errors"}, List{examples})
	}
	return []Section{s}, nil
}

// failedTook is how long failed requests of a load took in a phase, in milliseconds: the longest of all requests, which one
// that failed took if it is longer than any success.
func failedTook(r *record.Run, l record.Load, phase string) string {
	n := l.Totals[phase]
	if failedOf(n) == 0 || n.MaxElapsed == 0 {
		return "-"
	}
	took := float64(n.MaxElapsed) / 1e6
	ok, known := r.Metrics["phase/"+phase+"/load/"+record.LoadName(l.Name)].Get("max_ms")
	if n.OK == 0 || known && took > 1.001*ok { // within what a histogram rounds
		return number(took, series.Timing)
	}
	return "at most " + number(took, series.Timing)
}

// mostOutbreaks bounds the runs whose seconds are read to say when requests failed.
const mostOutbreaks = 10

// whenTable says when requests failed, in the worst run of each of the worst cells.
func (b *builder) whenTable() (Table, error) {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "failed", Right: true}, {Title: "phase"}, {Title: "from"}, {Title: "to"}, {Title: "most in a second"}, {Title: "beside it"}}}
	places, _, _ := b.places()
	for _, p := range places[:min(len(places), mostOutbreaks)] {
		o, err := b.outbreak(p.worst)
		if err != nil {
			return t, err
		}
		if o == nil {
			continue
		}
		beside := "nothing was recorded"
		if len(o.beside) > 0 {
			beside = strings.Join(o.beside, "\n")
		}
		t.Rows = append(t.Rows, row(b.runName(p.worst), grouped(float64(p.most)), dash(o.phase), seconds(o.first), seconds(o.last+1),
			fmt.Sprintf("%s, %s", grouped(o.most), second(o.worst)), beside))
	}
	return t, nil
}

// phasesOf goes through the loads of a run, and through the phases of each in the order in which they were run.
func phasesOf(r *record.Run) iter.Seq2[record.Load, string] {
	return func(yield func(record.Load, string) bool) {
		for _, l := range r.Loads {
			var phases []string
			for _, p := range r.Phases {
				for _, name := range []string{p.Name, record.Between(p.Name)} {
					if _, ok := l.Totals[name]; ok && !slices.Contains(phases, name) {
						phases = append(phases, name)
					}
				}
			}
			for _, p := range sorted(l.Totals) {
				if !slices.Contains(phases, p) {
					phases = append(phases, p)
				}
			}
			for _, p := range phases {
				if !yield(l, p) {
					return
				}
			}
		}
	}
}
