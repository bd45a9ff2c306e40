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

// failures are when requests failed, in the worst runs, and of all runs by load and phase how many, and how.
func failures(b *builder) ([]Section, error) {
	many := b.howMany()
	examples := b.examples()
	if len(many) == 0 && len(examples) == 0 {
		return nil, nil
	}
	s := Section{Title: "Failures"}
	for _, part := range []func() ([]Block, error){b.whenFailed, b.failedBySecond} {
		blocks, err := part()
		if err != nil {
			return nil, err
		}
		s.Blocks = append(s.Blocks, blocks...)
	}
	s.Blocks = append(s.Blocks, many...)
	if len(examples) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Examples of errors"}, List{examples})
	}
	return []Section{s}, nil
}

// whenFailed is the table of when requests failed, with what its columns mean.
func (b *builder) whenFailed() ([]Block, error) {
	t, err := b.whenTable()
	if err != nil || len(t.Rows) == 0 {
		return nil, err
	}
	about := fmt.Sprintf("Seconds since the run began, of the headline loads: a request that failed counts in the second in which it was due (of a closed loop: sent), which is known to a second. Beside it stands what was done or happened from %g s before the second of the first failure until its requests were over, of much the %d nearest.", record.Reach, mostBeside)
	return []Block{Heading{"When, in the run of each cell in which most failed"}, t, Paragraph{text(about)}}, nil
}

// failedBySecond is the table of the seconds in which requests failed, and how many it leaves out.
func (b *builder) failedBySecond() ([]Block, error) {
	t, left, err := b.failingTable()
	if err != nil || len(t.Rows) == 0 {
		return nil, err
	}
	about := fmt.Sprintf("The same runs, second by second, with what stands beside each by the same rule. What fails is explained by what was done or happened up to %g s before it was due, or until it was over; the metric ", record.Reach)
	also := " counts what is not."
	if left > 0 {
		also += fmt.Sprintf(" Left out: %s in which fewer failed.", plural.Of(left, "second"))
	}
	return []Block{Heading{"Second by second"}, t, Paragraph{text(about, mono("failed_unexplained"), also)}}, nil
}

// mostFailures bounds the rows of the table of failures, the record of each run has them all.
const mostFailures = 100

// howMany is the table of how many requests failed, and how, of each run, load and phase in which some did or the load generator
// could not send some.
func (b *builder) howMany() []Block {
	t := Table{Columns: []Column{{Title: "run"}, {Title: "load"}, {Title: "phase"}, {Title: "due in it", Right: true}, {Title: "sent in it", Right: true}, {Title: "failed of those due", Right: true}, {Title: "by code and class"},
		{Title: "failed ones took up to (ms)", Right: true}, {Title: "never sent: the generator's own lack", Right: true}}}
	more := 0
	for r := range b.runsOfCells() {
		for l, phase := range phasesOf(r) {
			if n := l.Totals[phase]; failedOf(n) == 0 && n.Generator == 0 {
				continue
			}
			if len(t.Rows) == mostFailures {
				more++
				continue
			}
			t.Rows = append(t.Rows, b.failedRow(r, l, phase))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	out := []Block{Heading{"How many, and how"}, t,
		Paragraph{text("A row is a phase of one run. Due in it (", mono("requests"), ") are those that became due in the phase (of a closed loop: that were sent), whenever they were sent and over. Of these some failed, and some were never sent because the load generator lacked descriptors, ports, memory or CPU (", mono("generator"), "). "+
			"Sent in it (", mono("sent"), ") are those that were written to a connection during the phase: fewer than were due where requests waited for a connection and were sent after it.")},
		Paragraph{text("How long they took is from the moment at which the request was due, a wait for a connection included; \u201cat most\u201d where a request that succeeded took longer.")}}
	if more > 0 {
		out = append(out, Paragraph{text(fmt.Sprintf("And %s more, in the runs' run.json.", plural.Of(more, "row")))})
	}
	return out
}

// failedRow is what failed of a load in a phase of a run.
func (b *builder) failedRow(r *record.Run, l record.Load, phase string) []Text {
	n, name := l.Totals[phase], oneLine(record.PhaseWords(phase))
	if !r.Counts(&l, phase) {
		name += " (does not count)"
	}
	return row(b.runName(r), l.Name, name, grouped(float64(n.Due)), grouped(float64(n.Sent)), grouped(float64(failedOf(n))), dash(classes(n)), failedTook(r, l, phase), grouped(float64(n.Generator)))
}

// mostExamples bounds the examples of errors.
const mostExamples = 20

// examples are errors as runs recorded them, each once.
func (b *builder) examples() (examples []Text) {
	seen := map[string]bool{}
	for r := range b.runsOfCells() {
		for _, e := range r.Examples {
			if !seen[e] && len(examples) < mostExamples {
				seen[e] = true
				examples = append(examples, text(b.runName(r)+": ", mono(e)))
			}
		}
	}
	return examples
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
		beside := text("nothing was recorded")
		if len(o.beside) > 0 {
			beside = join(o.beside, "\n")
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
