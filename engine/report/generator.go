package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// Guards of what may shape figures beside the target: the load generator, and the machine that it ran on. The guard
// generatorKnown says that of the generator's CPU nothing is known.
var (
	ofGenerator = []string{"generator-cpu", "generator", "rate-delivered", "send-lag", "own-delay", "connections", "descriptors", "ports", "workers", "cross-check"}
	ofMachine   = []string{"busy-machine", "foreign-cpu", "clock", "pinning"}
)

const generatorKnown = "generator-known"

func isOfGenerator(g record.Guard) bool {
	return slices.Contains(ofGenerator, g.Name) || slices.Contains(ofMachine, g.Name)
}

// A standing is what the guards of the load generator and of its machine say of the runs: of a run of which one did not hold,
// whether its figures are not to be trusted or it only warns.
type standing struct {
	all             int // runs with results that have a load or such a guard
	unjudged        int // of which no such guard is recorded
	tainted, warned []*record.Run
	unknown         []*record.Run // the generator's CPU is not known; some of them are tainted or warned of too
	clear           []*record.Run // all guards held
	tails           []*record.Run // clear ones in which the generator's own delay was above the p99 in some second
	late, may       float64       // of these the highest share of requests that it held up for longer, and that may be; zero: not recorded
	held            int           // guards in clear runs

	spoiling, warning []guardKind // that did not hold, in order of appearance
	brokenIn          map[guardKind][]*record.Run
}

// A guardKind is a guard by what it does to figures: by the plan's limits one that warns in one run may taint in another.
type guardKind struct{ name, taints string }

// standing goes through the runs of all cells that have results: the figures of no other are in the report.
func (b *builder) standing() standing {
	s := standing{brokenIn: map[guardKind][]*record.Run{}}
	for r := range b.runsOfCells() {
		if r.Status.HasResults() {
			s.add(r)
		}
	}
	return s
}

// add puts a run where its guards put it.
func (s *standing) add(r *record.Run) {
	held := 0
	var above []*record.Seen
	var tainted, warned, unknown bool
	for _, g := range r.Guards {
		switch {
		case g.Name == generatorKnown:
			unknown = unknown || !g.OK
		case !isOfGenerator(g):
		case g.OK:
			held++
			if g.Name == "own-delay" && g.Seen != nil && g.Seen.Above > 0 {
				above = append(above, g.Seen)
			}
		default:
			tainted, warned = tainted || g.Taints != "", true
			s.broke(r, guardKind{g.Name, g.Taints})
		}
	}
	if held == 0 && !warned && !unknown {
		if len(r.Loads) > 0 {
			s.all, s.unjudged = s.all+1, s.unjudged+1
		}
		return
	}
	s.all++
	if unknown {
		s.unknown = append(s.unknown, r)
	}
	switch {
	case tainted:
		s.tainted = append(s.tainted, r)
	case warned:
		s.warned = append(s.warned, r)
	case !unknown:
		s.clear, s.held = append(s.clear, r), s.held+held
		s.reach(r, above)
	}
}

// reach notes that in a clear run the generator's own delay was above the p99, as the guards of its loads saw it.
func (s *standing) reach(r *record.Run, above []*record.Seen) {
	for _, seen := range above {
		s.late, s.may = max(s.late, seen.Late), max(s.may, seen.May)
	}
	if len(above) > 0 {
		s.tails = append(s.tails, r)
	}
}

// broke notes that a guard did not hold in a run.
func (s *standing) broke(r *record.Run, k guardKind) {
	switch {
	case s.brokenIn[k] != nil:
	case k.taints != "":
		s.spoiling = append(s.spoiling, k)
	default:
		s.warning = append(s.warning, k)
	}
	s.brokenIn[k] = append(s.brokenIn[k], r)
}

// generator says in the findings in how many runs the load generator, or the machine that it ran on, may have shaped the
// figures, of how many that is not known, and that the rest is clear. What each guard that did not hold saw is said by distrust,
// what the generator was seen to do by generatorFigures.
func (b *builder) generator(crowds []*crowd) []Text {
	s := b.standing()
	if s.all == s.unjudged || !slices.ContainsFunc(b.in.Runs, func(r *record.Run) bool { return len(r.Loads) > 0 }) {
		return nil
	}
	var items []Text
	if n := len(s.tainted) + len(s.warned); n > 0 {
		items = append(items, text(doubtful("The load generator or the machine it ran on may have shaped the figures of "+b.share(n, s.all)),
			", in "+b.shareOfCells(slices.Concat(s.tainted, s.warned))+": "+s.trust()+" ("+s.guards()+")."))
	}
	if n := len(s.unknown); n > 0 {
		items = append(items, text(doubtful("Whether the load generator had the CPU that it needed is not known in "+b.share(n, s.all)), ": ", b.inRuns(s.unknown), " ("+generatorKnown+"); "+taintWords["timing"]+"."))
	}
	if s.unjudged > 0 {
		items = append(items, text(doubtful("No guard of the load generator or of its machine is recorded"), " of "+b.share(s.unjudged, s.all)+"."))
	}
	if t := b.clear(&s); t != nil {
		items = append(items, t)
	}
	return append(items, b.waitedInstead(crowds)...)
}

// trust says what the guards that did not hold do to the figures of their runs.
func (s *standing) trust() string {
	switch {
	case len(s.warned) == 0:
		return "not all of these figures are to be trusted"
	case len(s.tainted) == 0:
		return "guards only warn, and nothing is withdrawn"
	}
	return fmt.Sprintf("in %s not all figures are to be trusted, in %s guards only warn", plural.Of(len(s.tainted), "run"), plural.Of(len(s.warned), "more run"))
}

// guards names those that did not hold, those first after which figures are not to be trusted: "busy-machine in 4 runs, own-delay
// in 1".
func (s *standing) guards() string {
	var parts []string
	sum := 0
	for _, k := range slices.Concat(s.spoiling, s.warning) {
		n := distinct(s.brokenIn[k])
		words := fmt.Sprint(n)
		if len(parts) == 0 {
			words = plural.Of(n, "run")
		}
		parts, sum = append(parts, k.name+" in "+words), sum+n
	}
	if sum > len(s.tainted)+len(s.warned) {
		return strings.Join(parts, ", ") + "; some in the same run"
	}
	return strings.Join(parts, ", ")
}

// clear says in how many runs all guards of the generator and of the machine held, and in which of them a figure of the highest
// latencies may be partly the generator's all the same.
func (b *builder) clear(s *standing) Text {
	n, of := len(s.clear), "them"
	if n == 0 {
		return nil
	}
	words := fmt.Sprintf("In %s every guard of the load generator and of its machine held (%s of these kinds)", b.share(n, s.all), plural.Of(s.held, "guard"))
	if n == s.all {
		words = fmt.Sprintf("Neither the load generator nor the machine it ran on is seen to have shaped the figures of %s: every guard of theirs held (%s of these kinds)", anyOf(n), plural.Of(s.held, "guard"))
		of = "these runs"
	}
	if len(s.tails) == 0 {
		return text(words + ".")
	}
	var high []Text
	for _, name := range tails {
		high = append(high, text(mono(name)))
	}
	return text(words+"; figures of the highest latencies (", join(high, ", "), fmt.Sprintf(") may still be partly the generator's in %d of %s (", len(s.tails), of), b.cellsOf(s.tails), "): its own delay in sending was above the p99 there, "+s.few()+".")
}

// few says for how many requests the generator's own delay was above the p99 in clear runs.
func (s *standing) few() string {
	if s.may == 0 {
		return "for no more requests than the guard own-delay lets pass"
	}
	return fmt.Sprintf("for up to %s of the requests of a load; the guard own-delay lets %s pass", percent(s.late), percent(s.may))
}

// anyOf is any of n runs in words.
func anyOf(n int) string {
	if n == 1 {
		return "the 1 run"
	}
	return "any of " + plural.Of(n, "run")
}

// waitedInstead says in which cells requests waited for a connection, which no guard of the generator counts.
func (b *builder) waitedInstead(crowds []*crowd) []Text {
	var cells []string
	for _, c := range crowds {
		cells = append(cells, b.name(c.cell.Coord))
	}
	if len(cells) == 0 {
		return nil
	}
	return []Text{text(fmt.Sprintf("No wait for a connection counts as the load generator's: requests waited for one in %s (", plural.Of(len(cells), "cell")), some(cells, mostCrowds), "), which is in the latencies, because these count from when a request was due.")}
}

// share is n of all runs in words.
func (b *builder) share(n, all int) string {
	if n == all && n > 1 {
		return "all " + plural.Of(all, "run")
	}
	return fmt.Sprintf("%d of %s", n, plural.Of(all, "run"))
}

// shareOfCells is in how many of the cells with runs that have results these runs are.
func (b *builder) shareOfCells(runs []*record.Run) string {
	among := map[string]bool{}
	for _, r := range runs {
		among[r.ID] = true
	}
	n, all := 0, 0
	for _, c := range b.res.Cells {
		if slices.ContainsFunc(c.Runs, func(id string) bool { r := b.runs[id]; return r != nil && r.Status.HasResults() }) {
			all++
		}
		if slices.ContainsFunc(c.Runs, func(id string) bool { return among[id] }) {
			n++
		}
	}
	return fmt.Sprintf("%d of %s", n, plural.Of(all, "cell"))
}
