package dsl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl/diag"
)

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// A trap is a way in which a plan's text means something else to YAML.
type trap struct {
	re        *regexp.Regexp // its first group is where to point
	msg, hint string
}

var traps = []trap{
	{regexp.MustCompile(`[\[{,][^"']*?:?\s*(\$\{\{)`), "${{ }} unquoted inside { } or [ ]", `quote it: "${{ ... }}"`},
	{regexp.MustCompile(`(?::|-)\s+(![^\s"']+)\s`), "YAML reads ! as the beginning of a tag", "quote the expression"},
	{regexp.MustCompile(`[{,]\s*[\w-]+:\s+(![^\s"']*)`), "YAML reads ! as the beginning of a tag", "quote the expression"},
	{regexp.MustCompile(`:\s+[^"'#\s][^"'#]* \? [^"']*( : )`), "the : of an unquoted a ? b : c begins a mapping to YAML", "quote the expression"},
	{regexp.MustCompile(`\s(\? )`), "? begins a key to YAML inside { } or [ ]", "quote the expression"},
	{regexp.MustCompile(`:\s+(["'](?:[^"'\\]|\\.)*["'])\s*[^\s,#\]}]`), "text goes on after the closing quote", "quote the whole expression with the other quotes"},
	{regexp.MustCompile(`:\s+(>=?)\s*[\w.(]`), "> begins a folded text to YAML", "quote the expression"},
	{regexp.MustCompile(`:\s+([@%` + "`" + `&*])`), "YAML keeps this character for itself", "quote the text"},
	{regexp.MustCompile(`^(\s*\t)`), "a tab in the indentation", "indent with spaces"},
	{regexp.MustCompile(`^[^"'#{\[]*?:\s+[^"'#\s{\[][^"'#]*?(:)(?:\s|$)`), "a second \": \" in a plain text", "quote the text"},
	{regexp.MustCompile(`[{,]\s*[\w-]+:\s+[^"'#\s{}\[\],][^"'#{}\[\],]*?(:)(?:\s|$)`), "a second \": \" in a plain text", "quote the text"},
	{regexp.MustCompile(`[{,]\s*[\w-]+:\s+[^"'{}\[\],]*([{}\[\]])[^{}]*[^\s\]},]`), "braces or brackets of an unquoted text inside { } or [ ]", "quote the text"},
}

// syntaxProblem makes a problem of what yaml.v3 says. Its line is sometimes one too early or absent, and there is no
// column, so the lines around are looked at for the known traps.
func syntaxProblem(src *source, err error) *diag.Problem {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		m = []string{"", "", err.Error()}
	}
	if a := yamlAnchor.FindStringSubmatch(m[2]); a != nil {
		return anchorProblem(src, a[1])
	}
	line, _ := strconv.Atoi(m[1])
	src.index()
	line = max(line, 1)
	p := &diag.Problem{Pos: diag.Pos{File: src.name, Line: min(line, len(src.lines)), Col: 1}, Msg: "not YAML: " + m[2], Hint: "see the text here and on the line before"}
	near := []int{line, line + 1, line - 1, line + 2, line + 3}
	for _, fine := range []bool{false, true} { // first the lines that are wrong by themselves
		for _, l := range near {
			if text := src.line(l); isYAML(text) == fine {
				if t, at := trapIn(text); t != nil {
					p.Pos.Line, p.Pos.Col = l, len([]rune(text[:at]))+1
					p.Msg, p.Hint = t.msg, t.hint
					return p
				}
			}
		}
	}
	if strings.Contains(m[2], "expected ','") {
		for _, l := range []int{line, line + 1, line - 1} {
			if col, open := unclosed(src.line(l)); col > 0 {
				p.Pos.Line, p.Pos.Col = l, col
				p.Msg = fmt.Sprintf("the %c is not closed on this line, and YAML finds no end of it", open)
				p.Hint = fmt.Sprintf("close it with %c", map[rune]rune{'{': '}', '[': ']'}[open])
				return p
			}
		}
	}
	text := src.line(p.Pos.Line)
	p.Pos.Col = len(text) - len(strings.TrimLeft(text, " ")) + 1
	return p
}

// isYAML reports whether a line is YAML without the lines around it.
func isYAML(line string) bool {
	var n yaml.Node
	return yaml.Unmarshal([]byte(strings.TrimLeft(line, " ")), &n) == nil
}

// trapIn returns the first trap that a line falls into, and where in it; nil if it falls into none.
func trapIn(line string) (t *trap, at int) {
	for i := range traps {
		if m := traps[i].re.FindStringSubmatchIndex(line); m != nil {
			return &traps[i], m[2]
		}
	}
	return nil, 0
}

func anchorProblem(src *source, name string) *diag.Problem {
	src.index()
	p := &diag.Problem{Pos: diag.Pos{File: src.name, Line: 1, Col: 1}, Msg: "no anchor &" + name + " before *" + name, Hint: "name it with &" + name + ", or quote the text if it is an expression"}
	for l := 1; l <= len(src.lines); l++ {
		if i := strings.Index(src.line(l), "*"+name); i >= 0 {
			p.Pos.Line, p.Pos.Col = l, len([]rune(src.line(l)[:i]))+1
			break
		}
	}
	return p
}

// unclosed returns the column of the last bracket of a line that is not closed on it, or 0.
func unclosed(line string) (col int, open rune) {
	r := []rune(line)
	var stack []int
	for i := 0; i < len(r); i++ {
		switch r[i] {
		case '"', '\'':
			i = skipString(r, i) - 1
		case '{', '[':
			stack = append(stack, i)
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case '#':
			if i == 0 || blank(r[i-1]) {
				i = len(r)
			}
		}
	}
	if len(stack) == 0 {
		return 0, 0
	}
	last := stack[len(stack)-1]
	return last + 1, r[last]
}
