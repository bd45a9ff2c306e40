package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
)

// A selfChecker is a type of the plan with rules beyond the types of its fields.
type selfChecker interface{ check(*Check) }

// checkNames checks what refers to something by name across the plan, and what must not be there twice.
func (p *Plan) checkNames(d *decoder) {
	p.checkTwice(d)
	d.outsidePhases("setup", p.Setup)
	for i := range p.Targets {
		d.outsidePhases("install", p.Targets[i].Val.Install)
		d.outsidePhases("routes-changed", p.Targets[i].Val.RoutesChanged)
	}
	if d.l.broken {
		return // names can be missing that are no mistakes
	}
	p.checkPresets(d)
	for i := range p.Targets {
		t := &p.Targets[i]
		for _, e := range t.Val.Unsupported {
			if known := d.l.names["scenarios"]; !slices.Contains(known, e.Name) {
				p := d.probs.Addf(e.Pos, "unsupported: no scenario is called %q", e.Name)
				p.Hint, p.End = Suggest(e.Name, known, "scenarios"), after(e.Pos, e.Name)
			}
		}
	}
	p.checkCells(d)
	p.checkReport(d)
	p.checkProbes(d)
	p.checkPublished(d)
}

func after(p diag.Pos, text string) diag.Pos {
	p.Col += len([]rune(text))
	return p
}

// checkPresets checks that presets name params.
func (p *Plan) checkPresets(d *decoder) {
	for _, preset := range p.Presets {
		for _, e := range preset.Val {
			if p.Params.Get(e.Name) == nil {
				p := d.probs.Addf(e.Pos, "preset %s: there is no param %q", preset.Name, e.Name)
				p.Hint, p.End = Suggest(e.Name, keysOf(d.root.get("params")), "params"), after(e.Pos, e.Name)
			}
		}
	}
}

// checkTwice checks the names of things that stand in lists.
func (p *Plan) checkTwice(d *decoder) {
	var stages, verdicts, probes named
	for i := range p.Schedule {
		stages.add(d, "stage", p.Schedule[i].Val.Stage, p.Schedule[i].body.get("stage"))
	}
	for i := range p.Verdicts {
		verdicts.add(d, "verdict", p.Verdicts[i].Val.Verdict, p.Verdicts[i].body.get("verdict"))
	}
	for i := range p.Probes {
		probes.add(d, "probe", p.Probes[i].Val.Name, p.Probes[i].body.get("name"))
	}
}

// named notes names and where they are.
type named map[string]*node

func (m *named) add(d *decoder, what, name string, at *node) {
	if name == "" || at == nil {
		return
	}
	if *m == nil {
		*m = named{}
	}
	if before := (*m)[name]; before != nil {
		d.errorf(at, "a second %s is called %q", what, name).Hint = fmt.Sprintf("the first is on line %d; choose another name", before.line)
		return
	}
	(*m)[name] = at
}

// outsidePhases checks that actions outside of phases have no times.
func (d *decoder) outsidePhases(what string, acts []Part[Action]) {
	for i := range acts {
		for _, key := range []string{"at", "every", "for", "through"} {
			if n := acts[i].n.get(key); n != nil {
				d.errorf(keyOf(acts[i].n, key), "%s: %s has a meaning in phases only", what, key).Hint = "these actions run one after another; leave it out"
			}
		}
		d.outsidePhases("undo", acts[i].Val.Undo)
	}
}

// checkReport checks the coordinates of rows and columns.
func (p *Plan) checkReport(d *decoder) {
	known := []string{"stage", "scenario", "target", "round", "repeat"}
	for i := range p.Scenarios {
		for _, axis := range p.Scenarios[i].Val.Matrix {
			if !slices.Contains(known, axis.Name) {
				known = append(known, axis.Name)
			}
		}
	}
	for i := range p.Report {
		s := &p.Report[i]
		for key, words := range map[string]Strings{"rows": s.Val.Rows, "columns": s.Val.Columns} {
			nodes := textsOf(s.n.get(key))
			for j, w := range words {
				if w = strings.TrimPrefix(w, "matrix."); !slices.Contains(known, w) && j < len(nodes) {
					d.errorf(nodes[j], "%s: %q is no coordinate of cells", key, w).Hint = Suggest(w, known, "coordinates")
				}
			}
		}
	}
}

// checkProbes checks the names of probes that stages leave out.
func (p *Plan) checkProbes(d *decoder) {
	known := append([]string{"all"}, names(d.l.vocab.Probes)...)
	for i := range p.Probes {
		if n := p.Probes[i].Val.Name; n != "" {
			known = append(known, n)
		}
	}
	for i := range p.Schedule {
		for _, n := range textsOf(p.Schedule[i].n.get("probes").get("without")) {
			if !slices.Contains(known, n.text) {
				d.errorf(n, "without: no probe is called %q", n.text).Hint = Suggest(n.text, known, "probes")
			}
		}
	}
}
