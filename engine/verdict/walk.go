package verdict

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
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

// oneOfMany refuses a coordinate that no judged group has, because several cells are judged together, and an axis that no
// cell has.
func (p *pass) oneOfMany(e ast.Expr, name string) {
	if p.time == AtSelect || len(p.base) == 0 || p.valuesOf(name) == nil {
		return
	}
	for _, c := range p.base {
		has := map[string]string{"stage": c.Stage, "scenario": c.Scenario, "target": c.Target}[name]
		if axis, ok := strings.CutPrefix(name, "matrix."); ok {
			has = c.Axes()[axis]
		}
		if has != "" {
			return
		}
	}
	p.say(e.ID(), "", "%s is not one here: no cell has it, or several cells are judged together", name)
}

func (p *pass) walkCall(e ast.Expr, locals map[string]*address) *address {
	call := e.AsCall()
	name, args := call.FunctionName(), call.Args()
	if name == "@ratio" {
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

func (p *pass) planCall(e ast.Expr) {
	call := e.AsCall()
	f := p.functions[call.FunctionName()]
	p.needs.calls[f.Name], p.needs.known = true, p.needs.known&f.In
	if args := call.Args(); f.Names != nil && len(args) > 0 && args[0].Kind() == ast.LiteralKind {
		if s, ok := args[0].AsLiteral().(types.String); ok && !slices.Contains(f.Names, string(s)) {
			p.say(args[0].ID(), didYouMean(string(s), f.Names), "%s() knows no %q", f.Name, string(s))
		}
	}
}

var (
	unitOf    = regexp.MustCompile(`_(us|ms|kib|mib|gib)(_last|_mean|_max|_min)?$`)
	unitCalls = []string{"ms", "seconds", "minutes", "kib", "mib", "gib"}
)

// units keeps p99_ms < ms(5) and rss_mib < mib(64) out: the one is in ms or MiB, the other in seconds or bytes.
func (p *pass) units(args []ast.Expr, op string) {
	if len(args) < 2 || op == operators.Divide || op == operators.Multiply {
		return
	}
	for i := range 2 {
		m, u := args[i], args[1-i]
		name := ""
		switch m.Kind() {
		case ast.IdentKind:
			name = m.AsIdent()
		case ast.SelectKind:
			name = m.AsSelect().FieldName()
		}
		g := unitOf.FindStringSubmatch(name)
		if _, metric := p.ix.metrics[name]; !metric || g == nil || u.Kind() != ast.CallKind {
			continue
		}
		if f := u.AsCall().FunctionName(); slices.Contains(unitCalls, f) {
			p.say(u.ID(), "write the number", "%s is in %s, but %s() gives seconds or bytes", name, g[1], f)
		}
	}
}

// coordinates checks the literals that a coordinate is compared with where cells are selected or judged: a name that does
// not exist would silently select nothing.
func (p *pass) coordinates(args []ast.Expr, op string) {
	if p.time&(AtSelect|AtJudge) == 0 || len(args) != 2 || op != operators.Equals && op != operators.NotEquals && op != operators.In {
		return
	}
	for i := range 2 {
		if args[i].Kind() != ast.IdentKind || op == operators.In && i == 1 {
			continue
		}
		what := args[i].AsIdent()
		known := p.valuesOf(what)
		if known == nil {
			continue
		}
		lits := []ast.Expr{args[1-i]}
		if args[1-i].Kind() == ast.ListKind {
			lits = args[1-i].AsList().Elements()
		}
		for _, l := range lits {
			if l.Kind() != ast.LiteralKind {
				continue
			}
			if v := valueText(l.AsLiteral()); !slices.Contains(known, v) {
				p.say(l.ID(), didYouMean(v, known), "unknown %s %q", what, v)
			}
		}
	}
}

func (p *pass) valuesOf(coordinate string) []string {
	switch coordinate {
	case "stage":
		return names(p.ix.stages)
	case "scenario":
		return p.ix.scenarios
	case "target":
		return p.ix.targets
	}
	axis, _ := strings.CutPrefix(coordinate, "matrix.")
	return p.ix.axes[axis]
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
