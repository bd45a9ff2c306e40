package report

import (
	"github.com/planrun/planrun/engine/record"
)

// targets says what each target is, with its knobs and why they are set, and what cannot be made equal.
func targets(b *builder) ([]Section, error) {
	if len(b.res.Targets) == 0 {
		return nil, nil
	}
	s := Section{Title: "Targets"}
	about := Table{Columns: []Column{{Title: "target"}, {Title: "what it is"}, {Title: "version"}, {Title: "program"}, {Title: "sha256"}}}
	knobs := Table{Columns: []Column{{Title: "target"}, {Title: "knob"}, {Title: "value"}, {Title: "why"}}}
	var unequal []Text
	var own []string
	for _, t := range b.res.Targets {
		p := b.program(t)
		version, path, sum := text(dash(p.Version)), text("-"), text("-")
		if p.Missing != "" {
			version = text("missing: " + p.Missing)
		}
		if t.Own != "" {
			path = text("built into planrun")
			if p.Version == "" {
				version = text(b.planrun())
			}
			own = append(own, ownWords(t))
		}
		if p.Path != "" {
			path = text(mono(p.Path))
		}
		if p.SHA256 != "" {
			sum = text(mono(p.SHA256))
		}
		about.Rows = append(about.Rows, row(t.Name, dash(t.About), version, path, sum))
		for _, k := range t.Knobs {
			knobs.Rows = append(knobs.Rows, row(t.Name, text(mono(k.Name)), text(mono(dash(k.Value))), why(k)))
		}
		for _, c := range t.CannotEqual {
			unequal = append(unequal, text(oneLine(t.Name)+": "+c))
		}
	}
	s.Blocks = append(s.Blocks, about)
	if len(own) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text(and(own) + builtIn)})
	}
	if len(knobs.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"Knobs"}, knobs)
	}
	if len(unequal) > 0 {
		s.Blocks = append(s.Blocks, Heading{"What cannot be made equal"}, List{unequal})
	}
	return []Section{s}, nil
}

// planrun is the version of planrun that measured.
func (b *builder) planrun() string {
	if e := b.in.Environment; e != nil {
		return "planrun " + e.Planrun
	}
	return "-"
}

func why(k record.Knob) string {
	if k.Why == "" {
		return "the plan does not say"
	}
	return k.Why
}

// program is what ran: as the results have it, else as the environment does.
func (b *builder) program(t record.Target) record.Program {
	if t.Program == (record.Program{}) && b.in.Environment != nil {
		return b.in.Environment.Programs[t.Name]
	}
	return t.Program
}
