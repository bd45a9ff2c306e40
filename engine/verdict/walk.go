package verdict

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// address is the static address of an object: the cells that it may stand for, and a part of them.
type address struct {
	places               []place
	phase, load, process string
	value                any // of a name whose value is known
}

// at gives the places; an address that is not known has none.
func (a *address) at() []place {
	if a == nil {
		return nil
	}
	return a.places
}

// here is the address of the current cell.
func (p *pass) here() *address {
	out := &address{}
	if len(p.base) == 0 {
		return &address{places: []place{{}}}
	}
	for _, c := range p.base {
		out.places = append(out.places, place{Coord: c})
	}
	return out
}

// walk checks the names that are data: fields of objects, and names in literals. It returns where e's value comes from.
func (p *pass) walk(e ast.Expr, locals map[string]*address) *address {
	switch e.Kind() {
	case ast.IdentKind:
		return p.walkName(e, locals)
	case ast.SelectKind:
		sel := e.AsSelect()
		return p.field(e, p.ast.GetType(sel.Operand().ID()), sel.FieldName(), p.walk(sel.Operand(), locals))
	case ast.CallKind:
		return p.walkCall(e, locals)
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		inner := maps.Clone(locals)
		over := p.walk(c.IterRange(), locals)
		inner[c.IterVar()], inner[c.AccuVar()] = over, nil
		p.walk(c.AccuInit(), inner)
		step := p.walk(c.LoopStep(), inner)
		p.walk(c.Result(), inner)
		if step == nil { // filter gives elements of the range
			return over
		}
		return step
	case ast.ListKind:
		var all []*address
		for _, x := range e.AsList().Elements() {
			all = append(all, p.walk(x, locals))
		}
		return merge(all)
	case ast.MapKind:
		for _, x := range e.AsMap().Entries() {
			p.walk(x.AsMapEntry().Key(), locals)
			p.walk(x.AsMapEntry().Value(), locals)
		}
	}
	return nil
}

func merge(all []*address) *address {
	var out *address
	for _, a := range all {
		switch {
		case a == nil || len(a.places) == 0:
		case out == nil:
			one := *a
			out = &one
		default:
			out.places = append(slices.Clone(out.places), a.places...)
		}
	}
	return out
}

func (p *pass) walkName(e ast.Expr, locals map[string]*address) *address {
	name := e.AsIdent()
	if local, ok := locals[name]; ok {
		return local
	}
	if l, ok := p.lets[name]; ok {
		p.needs.merge(l.needs)
		for _, s := range l.secret {
			p.secret[e.ID()] = p.secret[e.ID()] || s
		}
		return l.address
	}
	if n, ok := p.ix.names[name]; ok {
		if name == "runs" {
			p.needs.result("")
			return p.here()
		}
		if name == "targets.measured" {
			p.needs.result("")
		}
		p.needs.name(name, n.In)
		p.oneOfMany(e, name)
		if n.Secret {
			p.secret[e.ID()] = true
		}
		return &address{value: n.Value}
	}
	if _, ok := p.ix.metrics[name]; ok {
		p.metric(e.ID(), p.here(), name)
		return nil
	}
	if name == "@here" {
		return p.here()
	}
	return nil
}

func (p *pass) walkCall(e ast.Expr, locals map[string]*address) *address {
	call := e.AsCall()
	name, args := call.FunctionName(), call.Args()
	if ofMetrics[name] {
		args = args[:2] // the others are copies
	}
	var in *address
	var all []*address
	if call.IsMemberFunction() {
		in = p.walk(call.Target(), locals)
	}
	for _, a := range args {
		all = append(all, p.walk(a, locals))
	}
	p.units(args, name)
	p.coordinates(args, name)
	switch {
	case p.isPlanFunction(name):
		p.planCall(e)
		return nil
	case addressers[name] && call.IsMemberFunction():
		return p.address(e, in)
	case name == "@items" || name == "@nonempty":
		return all[0]
	case name == operators.Index, name == operators.Add, name == operators.Conditional:
		return merge(all)
	case name == "first" || name == "last" || name == "after" || name == "before":
		return in
	}
	return nil
}

// field checks object.name.
func (p *pass) field(e ast.Expr, t *cel.Type, name string, in *address) *address {
	switch t.TypeName() {
	case "@cell", "@runs", "@phase", "@load":
		switch {
		case name == "runs" && t == cellT:
			return in
		case name == "seconds" && (t == phaseT || t == loadT && in != nil && in.phase != ""):
			p.needs.result("")
		default:
			p.metric(e.ID(), in, name)
		}
	case "@replicas", "@replica":
		p.needs.result(name)
		for _, pl := range in.at() {
			sc := p.ix.Scenarios[pl.Scenario]
			if sc == nil {
				continue
			}
			var known []string
			for _, m := range sc.Replicas[in.process] {
				known = append(known, m.Name)
			}
			if !slices.Contains(known, name) {
				p.say(e.ID(), didYouMean(name, known), "replicas of %q have no metric %q", in.process, name)
			}
		}
	case "map":
		if in != nil && in.value != nil {
			if m, ok := in.value.(map[string]any); ok {
				v, has := m[name]
				if !has {
					p.say(e.ID(), didYouMean(name, names(m)), "there is no %q", name)
				}
				return &address{value: v}
			}
		}
	default:
		if f, ok := fixed[t.TypeName()]; ok && f[name] == nil {
			p.say(e.ID(), didYouMean(name, names(f)), "%s has no %q", t.TypeName()[1:], name)
		}
	}
	return nil
}
