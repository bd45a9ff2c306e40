package report

import (
	"fmt"
	"io"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/hdr"
)

// An Input is what a report is made of.
type Input struct {
	Results     *record.Results
	Environment *record.Environment // nil if the result set has none
	Runs        []*record.Run       // those of Results.Cells, in any order
	// Series gives a metric or series of a run over the run's whole time, for charts: the times, in seconds since it began,
	// and the values; none if the run has no such series. (Package measure knows what a name means over time.) nil means that
	// there are none to be had.
	Series func(id, name string) (times, values []float64, err error)
	// Threads gives the CPU that each thread of a run's target used over the run's time, in cores. nil means that there are
	// none to be had.
	Threads func(id string) ([]Thread, error)
	// Latency gives the latencies of a run's headline, nil if it has none. nil means that there are none to be had.
	Latency func(id string) (*hdr.Histogram, error)
	// Failed gives the seconds of a run in which requests of its headline failed, in order. nil means that there are none to be had.
	Failed func(id string) ([]record.FailedSecond, error)
	// Waited gives the seconds of a run in which requests waited for a connection, by load and time. nil means that there are none to be had.
	Waited func(id string) ([]record.WaitedSecond, error)
	// Events reads one run's events, and what the reader had to leave out. nil means that there are none to be had.
	Events func(id string) (events []record.Event, notes []string, err error)
	// Unread says of runs, by their ID, why what was recorded of them could not all be read: the functions above leave that out.
	Unread map[string]string
	// Plan is the text of the plan as it was run; "" if it is not to be had.
	Plan string
	// Beside are earlier result sets whose figures stand beside these, in the order of their columns. Absent says of those that
	// were asked for and are not to be had why.
	Beside []Beside
	Absent []string
}

// Options of a report; the zero value works.
type Options struct {
	// Dir is the result set as it is named in command lines; "" means "DIR".
	Dir string
	// Plan is the plan's file as it is named in command lines; "" means Environment.Plan.
	Plan string
	// Width is how many columns the terminal has that Summary is for; its findings are not wrapped if it is 0.
	Width int
}

// Write makes the Markdown report.
func Write(w io.Writer, in Input, opt Options) error {
	d, err := Build(in, opt)
	if err != nil {
		return err
	}
	return WriteMarkdown(w, d)
}

// sections of a report, in order.
var sections = []func(*builder) ([]Section, error){
	findings,
	sideBySide,
	leftovers,
	overview,
	planned,
	pictures,
	besides,
	noise,
	gaps,
	failures,
	disturbedSection,
	guards,
	happenings,
	printed,
	faults,
	stages,
	targets,
	loads,
	connections,
	crossChecks,
	environment,
	reproduce,
}

// Build makes the document. Errors are of reading a run's series, or of results that refer to cells that do not exist.
func Build(in Input, opt Options) (*Document, error) {
	if in.Results == nil {
		return nil, fmt.Errorf("making a report: there are no results")
	}
	b := newBuilder(in, opt)
	d := &Document{Title: b.res.Plan, Facts: b.facts()}
	if b.res.About != "" {
		d.Lead = append(d.Lead, Paragraph{text(b.res.About)})
	}
	of := sections
	if b.imported() != nil {
		of = publishedSections
	}
	for _, section := range of {
		s, err := section(b)
		if err != nil {
			return nil, fmt.Errorf("making a report: %w", err)
		}
		d.Sections = append(d.Sections, s...)
	}
	if g := b.glossary(d); g != nil {
		d.Sections = append(d.Sections, *g)
	}
	d.Notes = b.notes
	return d, nil
}

// A builder holds what the sections share.
type builder struct {
	in         Input
	opt        Options
	res        *record.Results
	runs       map[string]*record.Run
	axes       []string // matrix axes in order of appearance
	rank       map[string]map[string]int
	rounds     int                               // the highest that a run has
	again      map[*record.Cell][]*record.Cell   // cells that differ in the stage alone
	besides    map[*record.Cell][][]*record.Cell // cells that differ in the target alone, each with those that differ in the stage
	notes      []Text
	seen       map[string]int                 // a note's text -> its number
	outbreaks  map[string]*outbreak           // by run, of those that were asked for
	waitCounts map[string]map[loadPhase]int64 // by run, of those whose samples may be read to count; nil until they are asked for
	ranked     []*contest                     // nil until they are asked for
	probed     map[string]series.SeriesDesc   // by name, of all runs; nil until they are asked for
}

func newBuilder(in Input, opt Options) *builder {
	if opt.Dir == "" {
		opt.Dir = "DIR"
	}
	if opt.Plan == "" {
		opt.Plan = "PLAN.yaml"
		if in.Environment != nil && in.Environment.Plan != "" {
			opt.Plan = in.Environment.Plan
		}
	}
	b := &builder{in: in, opt: opt, res: in.Results, runs: map[string]*record.Run{}, seen: map[string]int{}, outbreaks: map[string]*outbreak{}}
	for _, r := range in.Runs {
		b.runs[r.ID] = r
	}
	b.order()
	return b
}

// note gives the reference to a footnote; the same text has one footnote.
func (b *builder) note(s string) Span {
	n, ok := b.seen[s]
	if !ok {
		b.notes = append(b.notes, text(s))
		n = len(b.notes)
		b.seen[s] = n
	}
	return Span{Note: n}
}
