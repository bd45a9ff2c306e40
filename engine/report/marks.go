package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// mostMarks bounds what is marked in a chart; the record has it all.
const mostMarks = 20

// marks are the actions of a scenario but those that only make load, with the reloads and the ends of replicas that come of
// them (of the first run: the plan is the same for all), and of each unit's first run what happened besides, such as a
// process that died. What happened several times is one mark.
func (b *builder) marks(units []unit) ([]Mark, error) {
	var out []Mark
	at := map[string]int{}
	put := func(t float64, text string) {
		if i, ok := at[text]; ok {
			out[i].At = append(out[i].At, t)
			return
		}
		at[text] = len(out)
		out = append(out, Mark{At: []float64{t}, Text: text})
	}
	if r := b.firstRun(units); r != nil {
		for _, a := range r.Actions {
			if !marked(r, a) {
				continue
			}
			for _, t := range startsOf(r, a) {
				put(t, actionWords(a))
			}
		}
	}
	for _, u := range units {
		r := b.firstRun([]unit{u})
		if r == nil || b.in.Events == nil {
			continue
		}
		events, _, err := b.in.Events(r.ID)
		if err != nil {
			return nil, fmt.Errorf("events of run %s: %w", r.ID, err)
		}
		for _, e := range events {
			if what := consequence(e); what != "" && r == b.firstRun(units) {
				if i, ok := at[what]; !ok || !near(out[i].At, e.Began()) {
					put(e.Began(), what)
				}
			}
			if slices.Contains(telling, e.Kind) && e.T > 0 {
				who := ""
				if len(units) > 1 {
					who = u.at("target") + ": "
				}
				put(e.T, oneLine(who+e.Kind+": "+e.Message))
			}
		}
	}
	for _, m := range out {
		slices.Sort(m.At)
	}
	slices.SortStableFunc(out, func(x, y Mark) int { return cmp.Compare(x.At[0], y.At[0]) })
	return out, nil
}

// consequence is what an event that comes of an action is called in a chart; "" if it is not marked.
func consequence(e record.Event) string {
	switch state := e.Fields["state"]; {
	case e.Kind == "reload":
		return "reload: the target is told of a change"
	case e.Kind == "replica" && state == "leaving":
		return "replicas are told to end"
	case e.Kind == "replica" && state == "exited":
		return "replicas end"
	}
	return ""
}

// near reports whether a moment cannot be told in a chart from one that is there.
func near(at []float64, t float64) bool {
	return slices.ContainsFunc(at, func(x float64) bool { return math.Abs(x-t) < 0.2 })
}

// mark adds to a chart what happened, as far as it can be shown.
func (b *builder) mark(c *Chart, units []unit) (err error) {
	c.Marks, err = b.marks(units)
	if more := len(c.Marks) - mostMarks; more > 0 {
		c.Marks = c.Marks[:mostMarks]
		c.About = text("Not marked: " + plural.Of(more, "more thing") + " that happened.")
	}
	return err
}

// marked reports whether an action of a run changes something other than the load, while phases are on.
func marked(r *record.Run, a record.Action) bool {
	if a.Never {
		return false
	}
	if !a.Touches() {
		return a.Error != ""
	}
	i := slices.IndexFunc(r.Phases, func(p record.Phase) bool { return p.Name == a.Phase })
	return a.Error != "" || i >= 0 && r.Phases[i].Kind != "install"
}

// startsOf is when an action really began to change something: a change of backends or routes waits for the one before it.
// It is empty where its phase ended before that.
func startsOf(r *record.Run, a record.Action) (out []float64) {
	changes := false
	for _, c := range r.Facts.Changes {
		if c.Kind != a.Kind || c.Action == "" || c.Action != a.Name || c.Phase != a.Phase || c.Start < a.Start || c.Start > a.End {
			continue
		}
		if changes = true; !c.Unmade {
			out = append(out, c.Start)
		}
	}
	if !changes {
		return []float64{a.Start}
	}
	return out
}

// named is an action by its kind and its name, which may say the kind itself.
func named(a record.Action) string {
	switch {
	case a.Name == "":
		return a.Kind
	case a.Name == a.Kind || strings.HasPrefix(a.Name, a.Kind+" "):
		return a.Name
	}
	return a.Kind + " " + a.Name
}

func actionWords(a record.Action) string {
	s := named(a) + " (phase " + a.Phase + ")"
	if a.Error != "" {
		s += ": " + a.Error
	}
	return oneLine(s)
}
