package report

import (
	"fmt"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// sentInTime is the least share of the requests due in a window that are sent in it where nothing keeps them waiting.
const sentInTime = 0.98

// losses says of which targets requests failed in all runs together, whether their rate fell, and of which fewer requests were sent
// than were due.
func (b *builder) losses(group []disturbance) Text {
	t := b.failedThen(group)
	if slower := b.slowerThen(group); len(slower) > 0 {
		t = text(t, "; req_per_s fell: ", list(slower, mostNamed))
	}
	if late := unsentThen(group); len(late) > 0 {
		t = text(t, "; fewer requests were sent in it than were due in it, all runs together"+b.ofHeadline()+": ", list(late, mostNamed), " (req_per_s counts each that was answered where it was due, however late, and does not show that)")
	}
	return text(t, ".")
}

// failedThen says of which targets how many requests failed, or that of none, or that this is not known.
func (b *builder) failedThen(group []disturbance) Text {
	var failed []string
	known := 0
	for _, d := range group {
		r := compare.Read(d.then.Cell, d.then.Name, compare.ParseName("failed"))
		if r.Why == "" {
			known++
		}
		if r.Why != "" || r.Value == 0 {
			continue
		}
		s := fmt.Sprintf("%s of %s", grouped(r.Value), oneLine(d.cell.Coord.Target))
		if q := d.before.Cell; q != nil {
			if before := compare.Read(q, d.before.Name, compare.ParseName("failed")); before.Why == "" {
				s += fmt.Sprintf(" (%s in quiet)", grouped(before.Value))
			}
		}
		failed = append(failed, s)
	}
	switch {
	case len(failed) > 0:
		return text("failed in it, all runs together"+b.ofHeadline()+": ", some(failed, mostNamed))
	case known == len(group):
		return text("no request failed in it")
	case known > 0:
		return text(fmt.Sprintf("no request failed in it of the %s that counted", plural.Of(known, "target")))
	}
	return text("whether requests failed in it is not known")
}

// slowerThen says of which targets the rate fell. It counts a request where it was due, and is not asked of those of which fewer
// were sent than were due.
func (b *builder) slowerThen(group []disturbance) (slower []string) {
	for _, d := range group {
		if _, _, behind := unsent(d.then.Cell); behind || d.why != "" {
			continue
		}
		if c := b.against(d, "req_per_s"); c.Outcome() == compare.Worse {
			slower = append(slower, fmt.Sprintf("of %s to %s times, beyond the noise", oneLine(d.cell.Coord.Target), factor(c.Ratio.Value)))
		}
	}
	return slower
}

// unsentThen says of which targets fewer requests were sent than were due.
func unsentThen(group []disturbance) (late []string) {
	for _, d := range group {
		if sent, due, behind := unsent(d.then.Cell); behind {
			late = append(late, fmt.Sprintf("of %s %s of %s", oneLine(d.cell.Coord.Target), grouped(sent), grouped(due)))
		}
	}
	return late
}

// ofHeadline says that a count is of the headline's loads, where there are others that failures count too; else "".
func (b *builder) ofHeadline() string {
	if b.sideLoads() {
		return ", by the loads of the headline"
	}
	return ""
}

// unsent gives how many requests were sent in the window of a cell and were due in it, and says whether of those that had a
// connection to come clearly fewer were sent. Figures of requests a second count a request where it was due, and do not show that.
func unsent(c *record.Cell) (sent, due float64, behind bool) {
	value := func(metric string) float64 {
		return compare.Read(c, "", compare.ParseName(metric)).Value
	}
	sent, due = value("sent"), value("requests")
	known := compare.Read(c, "", compare.ParseName("sent")).Why == ""
	return sent, due, known && sent < sentInTime*(due-value("generator")-value("errors_connect")-value("errors_tls"))
}
