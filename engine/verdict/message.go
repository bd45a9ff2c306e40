package verdict

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

var identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*$`)

// say adds a problem at a node, once a place.
func (p *pass) say(id int64, hint, format string, args ...any) {
	loc := p.ast.SourceInfo().GetStartLocation(id)
	line, col := p.onName(max(1, loc.Line()), max(0, loc.Column()))
	p.add(line, col+1, hint, fmt.Sprintf(format, args...))
}

func (p *pass) add(line, col int, hint, msg string) {
	if at := [2]int{line, col}; !p.said[at] {
		p.said[at] = true
		p.problems = append(p.problems, Problem{line, col, msg, hint})
	}
}

// onName moves from where CEL points, the dot of a.b and the parenthesis of f(x), to the name. col counts from 0.
func (p *pass) onName(line, col int) (int, int) {
	if line > len(p.lines) {
		return line, col
	}
	r := []rune(p.lines[line-1])
	if col >= len(r) {
		return line, col
	}
	switch r[col] {
	case '.':
		for col++; col < len(r) && r[col] == ' '; col++ {
		}
	case '(':
		before := strings.TrimRight(string(r[:col]), " ")
		if m := identifier.FindString(before); m != "" {
			col = len([]rune(before)) - len([]rune(m))
		}
	}
	return line, col
}

// checkError turns an issue of CEL's checker into a problem; the node says what kind of issue it is.
func (p *pass) checkError(e *cel.Error) {
	n := p.nodes[e.ExprID]
	switch {
	case n != nil && n.Kind() == ast.IdentKind && strings.Contains(e.Message, "undeclared reference"):
		p.unknownPath(n)
	case n != nil && n.Kind() == ast.CallKind && strings.Contains(e.Message, "undeclared reference"):
		p.unknownFunction(n)
	case n != nil && n.Kind() == ast.SelectKind && n.AsSelect().Operand().Kind() == ast.IdentKind && p.isNamespace(n.AsSelect().Operand().AsIdent()):
		p.unknownPath(n.AsSelect().Operand())
	default:
		msg, hint := typeMessage(e.Message)
		p.say(e.ExprID, hint, "%s", msg)
	}
}

func (p *pass) unknownFunction(n ast.Expr) {
	name := n.AsCall().FunctionName()
	if hint, ok := notOffered[name]; ok {
		p.say(n.ID(), hint, "%s() is not offered", name)
		return
	}
	if f, ok := p.functions[name]; ok {
		p.say(n.ID(), "", "%s() is known only %s; this is evaluated %s", name, f.In, p.time)
		return
	}
	known := slices.Collect(maps.Keys(p.functions))
	for f := range p.env.Functions() {
		if identifier.MatchString(f) && f[0] != '@' && f[0] != '_' && !strings.HasSuffix(f, "_") {
			known = append(known, f)
		}
	}
	for _, m := range macros {
		known = append(known, m.Name)
	}
	p.say(n.ID(), didYouMean(name, known), "unknown function %q", name)
}

var notOffered = map[string]string{
	"has":    "a value that may be missing cannot be part of a judgement; missing data makes it inconclusive by itself",
	"double": "every number is the same type", "int": "every number is the same type; use floor()", "uint": "every number is the same type",
	"duration":  `durations are seconds; write ms(5), seconds(2) or minutes(1)`,
	"timestamp": "times are seconds since the run or the phase began",
	"type":      "types are known before anything runs", "dyn": "types are known before anything runs", "bool": "write a condition",
	"orValue": "missing data makes a judgement inconclusive by itself",
}

// path is a.b.c as it was written, with the nodes of a, a.b, a.b.c.
func (p *pass) path(n ast.Expr) (parts []string, nodes []ast.Expr) {
	parts, nodes = []string{n.AsIdent()}, []ast.Expr{n}
	for up := p.parents[n.ID()]; up != nil; up = p.parents[up.ID()] {
		parts, nodes = append(parts, up.AsSelect().FieldName()), append(nodes, up)
	}
	return parts, nodes
}

// unknownPath explains a name, with its dots, that the environment does not have.
func (p *pass) unknownPath(n ast.Expr) {
	parts, nodes := p.path(n)
	for i := len(parts); i > 0; i-- { // known at another time
		name := strings.Join(parts[:i], ".")
		if v, ok := p.ix.names[name]; ok && v.In&p.time == 0 {
			p.later(nodes[i-1].ID(), name, v.In)
			return
		}
	}
	if _, ok := p.ix.metrics[parts[0]]; ok {
		p.later(n.ID(), parts[0], AtLive|AtJudge)
		return
	}
	if parts[0] == "@here" {
		p.later(n.ID(), "a cell of the results", AtStage|AtLive|AtJudge)
		return
	}
	if v, ok := p.ix.names[parts[0]]; ok && len(parts) > 1 && len(p.below(parts[0])) == 0 { // here and now, but a plain value
		p.say(nodes[1].ID(), "leave it out", "%s is %s; it has no %q", parts[0], v.Type.Kind(), parts[1])
		return
	}
	for i := len(parts) - 1; i > 0; i-- { // the deepest part that is right
		prefix := strings.Join(parts[:i], ".")
		if below := p.below(prefix); len(below) > 0 {
			if whole := prefix + "." + parts[i]; len(p.below(whole)) > 0 {
				p.say(nodes[i].ID(), didYouMean("", p.below(whole)), "%s is not a value; name a part of it", whole)
			} else if prefix == "params" {
				p.say(nodes[i].ID(), didYouMean(parts[i], below), "unknown param %q", parts[i])
			} else {
				p.say(nodes[i].ID(), didYouMean(parts[i], below), "%s has no %q", prefix, parts[i])
			}
			return
		}
	}
	if below := p.below(parts[0]); len(below) > 0 {
		p.say(n.ID(), didYouMean("", below), "%s is not a value; name a part of it", parts[0])
		return
	}
	p.say(n.ID(), didYouMean(parts[0], p.visible()), "unknown name %q", parts[0])
}

// below lists the next parts of the dotted names under a prefix.
func (p *pass) below(prefix string) (out []string) {
	for n := range p.ix.names {
		if rest, ok := strings.CutPrefix(n, prefix+"."); ok {
			next, _, _ := strings.Cut(rest, ".")
			out = append(out, next)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// visible lists the first parts of all names that this time knows.
func (p *pass) visible() (out []string) {
	for n, v := range p.ix.names {
		if v.In&p.time != 0 {
			first, _, _ := strings.Cut(n, ".")
			out = append(out, first)
		}
	}
	for l := range p.lets {
		out = append(out, l)
	}
	if p.time&(AtLive|AtJudge) != 0 {
		out = append(out, slices.Collect(maps.Keys(p.ix.metrics))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *pass) later(id int64, name string, in Time) {
	p.say(id, "", "%s is known only %s; this is evaluated %s", name, in, p.time)
}

var symbols = strings.NewReplacer("_<_", "<", "_<=_", "<=", "_>_", ">", "_>=_", ">=", "_==_", "==", "_!=_", "!=", "_+_", "+", "_-_", "-", "_*_", "*", "_/_", "/", "_%_", "%",
	"_[_]", "[]", "@eq", "==", "@ne", "!=", "@or", "||", "@and", "&&", "_?_:_", "?:", "!_", "!", "-_", "-", "@in", "in", "@items", "a macro", "@nonempty", "a macro", "@ratio", "ratio()", "@noise_floor", "noise_floor()",
	"double", "number", "string", "text", "bool", "condition", "(@plan, ", "(", "(@plan", "(", "@plan.", "", "@", "")
var memberCall = regexp.MustCompile(`^(.+?)\.\((.*)\)$`)
var overload = regexp.MustCompile(`found no matching overload for '(.+)' applied to '(.+)'`)

func typeMessage(m string) (msg, hint string) {
	g := overload.FindStringSubmatch(m)
	if g == nil {
		return symbols.Replace(m), ""
	}
	args := symbols.Replace(memberCall.ReplaceAllString(g[2], "($1, $2)"))
	args = strings.Replace(args, ", )", ")", 1)
	name := symbols.Replace(g[1])
	if identifier.MatchString(name) {
		for _, d := range Functions() {
			if d.Name == name {
				hint = "it is used as " + d.Usage
				break
			}
		}
	}
	if (name == "+") && strings.Contains(args, "text") && strings.Contains(args, "number") {
		hint = "string(x) makes text of a number"
	}
	return fmt.Sprintf("%s cannot be applied to %s", name, args), hint
}

var (
	gotToken = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*?)' expecting`)
	noViable = regexp.MustCompile(`^no viable alternative at input '(.*)'`)
	badToken = regexp.MustCompile(`^token recognition error at: '(.*)'`)
	badWord  = map[string]string{"and": "write &&", "or": "write ||", "not": "write !", "=": "write ==", "is": "write ==", "&": "write &&", "|": "write ||",
		"ms": "metrics carry their unit; write the number", "%": "write percent(5) or 0.05"}
)

// parseError turns ANTLR's message into one of ours.
func (p *pass) parseError(e *cel.Error) {
	line, col := max(1, e.Location.Line()), max(0, e.Location.Column())+1
	m := strings.TrimPrefix(e.Message, "Syntax error: ")
	if strings.TrimSpace(p.text) == "" {
		p.add(1, 1, "", "the expression is empty")
		return
	}
	switch {
	case strings.Contains(m, "unsupported syntax '.?'") || strings.Contains(m, "unsupported syntax '[?'"):
		p.add(line, col, "missing data makes a judgement inconclusive by itself", "optional values (.?) are not offered")
		return
	case strings.Contains(m, "undeclared reference to 'has'") || strings.Contains(m, "invalid argument to has"):
		p.add(line, col, notOffered["has"], "has() is not offered")
		return
	case strings.Contains(m, "expression code point size exceeds limit"):
		p.add(1, 1, "use let, or params", fmt.Sprintf("the expression is longer than %d characters", maxRunes))
		return
	}
	for _, re := range []*regexp.Regexp{gotToken, noViable, badToken} {
		if g := re.FindStringSubmatch(m); g != nil {
			if g[1] == "<EOF>" {
				p.add(line, col, "", "the expression ends too early")
			} else {
				p.add(line, col, badWord[strings.TrimSpace(g[1])], fmt.Sprintf("unexpected %s", quote(g[1])))
			}
			return
		}
	}
	p.add(line, col, "", symbols.Replace(m))
}
