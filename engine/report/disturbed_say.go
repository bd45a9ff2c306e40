package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/internal/plural"
)

// against compares what was disturbed with what was quiet, which moved alike from one stage to another.
func (b *builder) against(d disturbance, metric string) compare.Comparison {
	return compare.Metric(compare.ParseName(metric), b.desc(metric), d.then, d.before, compare.Options{Row: compare.RowOf(d.then, d.before)})
}

// name says which disturbance it is: "churn / nginx, phase churn".
func (b *builder) disturbed(d disturbance) string {
	if d.phase == "" {
		return b.name(d.cell.Coord)
	}
	return b.name(d.cell.Coord) + ", phase " + oneLine(d.phase)
}

// mostDisturbed bounds the rows of the table.
const mostDisturbed = 200

// disturbedSection is the table of what churn and faults did.
func disturbedSection(b *builder) ([]Section, error) {
	s := Section{Title: "What churn and faults did"}
	if all := b.disturbances(); len(all) > 0 {
		s.Blocks = append(b.disturbedTable(all), b.phaseFailures(all)...)
	}
	if s.Blocks = append(s.Blocks, b.recoveries()...); len(s.Blocks) == 0 {
		return nil, nil
	}
	return []Section{s}, nil
}

// disturbedTable holds each disturbance against what was quiet.
func (b *builder) disturbedTable(all []disturbance) []Block {
	t := Table{Columns: []Column{{Title: "of"}, {Title: "beside"}, {Title: "p99_ms quiet", Right: true}, {Title: "p99_ms then", Right: true}, {Title: "ratio", Right: true}, {Title: "what it says"},
		{Title: "p99_ms after", Right: true}, {Title: "req/s quiet", Right: true}, {Title: "req/s then", Right: true}, {Title: "failed quiet", Right: true}, {Title: "failed then", Right: true}}}
	for _, d := range all[:min(len(all), mostDisturbed)] {
		if d.why != "" {
			t.Rows = append(t.Rows, row(b.disturbed(d), "n/a", "n/a", b.value(d.then, "p99_ms"), "n/a", d.why, "-", "n/a", b.value(d.then, "req_per_s"), "n/a", b.value(d.then, "failed")))
			continue
		}
		after := text("-")
		if d.after != "" {
			after = b.value(b.windowed(d.cell, d.after), "p99_ms")
		}
		c := comparison{Comparison: b.against(d, "p99_ms")}
		t.Rows = append(t.Rows, row(b.disturbed(d), d.quiet, b.value(d.before, "p99_ms"), b.value(d.then, "p99_ms"), c.value(), text(c.verb(), b.spoilt(c)), after,
			b.value(d.before, "req_per_s"), b.value(d.then, "req_per_s"), b.value(d.before, "failed"), b.value(d.then, "failed")))
	}
	out := []Block{
		Paragraph{text("Each phase of kind ", mono("churn"), " or ", mono("fault"), " beside the quiet phase before it in the same runs; a scenario that is never quiet beside the one of the same target that sends the same load undisturbed. The ratio is of ", mono("p99_ms"), ", then to quiet. req/s counts each request that succeeded where it was due (in a closed loop: sent), however late it was sent or answered; failed is of all runs together, by the loads of the headline.")}, t}
	if more := len(all) - mostDisturbed; more > 0 {
		out = append(out, Paragraph{text(fmt.Sprintf("And %d more.", more))})
	}
	return out
}

// value is a metric of a side for a table's cell.
func (b *builder) value(s compare.Side, metric string) Text {
	r := compare.Read(s.Cell, s.Name, compare.ParseName(metric))
	if r.Why != "" {
		return text("n/a", b.note(r.Why))
	}
	return text(number(r.Value, b.desc(metric).Class))
}

// verb says what the comparison with the quiet says, in its own words: nobody is better than himself.
func (c comparison) verb() string {
	switch c.Outcome() {
	case compare.Worse:
		return "worse: " + c.noise()
	case compare.Better:
		return "better: " + c.noise()
	case compare.Untrusted:
		return c.noise() + "; not to be trusted"
	}
	return c.noise()
}

// short is verb in as few words as there are.
func (c comparison) short() string {
	switch c.Outcome() {
	case compare.Worse, compare.Better:
		return "beyond the noise floor of " + factor(c.Ratio.Floor)
	case compare.WithinNoise:
		return "within the noise floor of " + factor(c.Ratio.Floor)
	case compare.Untrusted:
		return "a guard did not hold: not to be trusted"
	}
	return "too few runs to know the noise"
}

// mostScenarios bounds the sentences about scenarios in which something churned or was broken, mostHit the targets of which each
// says the p99, mostNamed those of which it says that this is not known, or what failed.
const (
	mostScenarios = 5
	mostHit       = 6
	mostNamed     = 3
)

// shaken says in the findings what churn and faults did, a sentence for each scenario and phase: the targets that it hit
// hardest, and the failures.
func (b *builder) shaken() (items []Text, err error) {
	var order []string
	groups := map[string][]disturbance{}
	for _, d := range b.disturbances() {
		coord := d.cell.Coord
		coord.Target = ""
		k := b.name(coord)
		if d.phase != "" {
			k += ", phase " + oneLine(d.phase)
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], d)
	}
	for i, k := range order {
		if i == mostScenarios {
			items = append(items, text(fmt.Sprintf("And %d more; see What churn and faults did.", len(order)-mostScenarios)))
			break
		}
		item, err := b.hit(k, groups[k])
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// hit: slow-origin, phase fault beside phase before: requests waited for a free connection, of a 900 of 2,000 (at most 3,002 ms);
// the p99_ms of a went from 1.2 to 22.3 ms (18.6 times, beyond ...), of b ...; failed 0 of 450 before, 12 of 450 then.
func (b *builder) hit(name string, group []disturbance) (Text, error) {
	var effects []shaking
	quiet := ""
	for _, d := range group {
		if d.why == "" {
			effects, quiet = append(effects, shaking{d, comparison{Comparison: b.against(d, "p99_ms")}}), d.quiet
		}
	}
	waits, err := b.waiting(group)
	if err != nil {
		return nil, err
	}
	if len(effects) == 0 {
		if waits != nil {
			waits = text("; ", waits)
		}
		return text(name+" cannot be set beside anything quiet: ", group[0].why, waits, "."), nil
	}
	if waits != nil {
		waits = text(waits, "; ")
	}
	return text(strong(name), " beside "+quiet+": ", waits, "the ", mono("p99_ms"), " "+shakings(effects)+"; ", b.losses(group)), nil
}

// shakings say of the targets that were hit hardest what their p99 did, and of how many others it is not said.
func shakings(effects []shaking) string {
	slices.SortStableFunc(effects, func(x, y shaking) int { return cmp.Compare(y.size(), x.size()) })
	var parts []string
	others, unknown := 0, 0
	for i, e := range effects {
		switch {
		case i < mostNamed || i < mostHit && e.size() > 0:
			parts = append(parts, e.say())
		case e.size() == 0:
			unknown++
		default:
			others++
		}
	}
	if others > 0 {
		parts = append(parts, "of "+plural.Of(others, "other target")+" see What churn and faults did")
	}
	if unknown > 0 {
		parts = append(parts, "of "+plural.Of(unknown, "other target")+" is not known")
	}
	return strings.Join(parts, "; ")
}
