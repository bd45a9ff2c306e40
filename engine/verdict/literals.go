package verdict

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

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
	if p.time&(AtSelect|AtJudge|AtRow) == 0 || len(args) != 2 || op != "@eq" && op != "@ne" && op != operators.In {
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
	if n := p.ix.names[coordinate]; n.Values != nil {
		return n.Values
	}
	axis, _ := strings.CutPrefix(coordinate, "matrix.")
	return p.ix.axes[axis]
}

// oneOfMany refuses a coordinate that no judged group has, because several cells are judged together, and an axis that no
// cell has.
func (p *pass) oneOfMany(e ast.Expr, name string) {
	if p.time&(AtSelect|AtRow) != 0 || len(p.base) == 0 || p.valuesOf(name) == nil {
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
