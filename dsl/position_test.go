package dsl

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl/diag"
)

// TestPositionsInScalars maps the place of BAD inside of a scalar to the source, in every style in which YAML writes one.
func TestPositionsInScalars(t *testing.T) {
	docs := []string{
		"expect: p99 < 5.0 && BAD > 1.0\n",
		"a:\n  - x: 1\n    expect:   p99 < 5.0 && BAD > 1.0 # c\n",
		"expect: \"p99 < 5.0 && 'é\\u00e9\\x41' == 'x' && BAD > 1.0\"\n",
		"expect: 'p99 < 5.0 && ''😀'' == ''x'' && BAD > 1.0'\n",
		"expect: p99 < 5.0 &&\n   p99 > 1.0 &&\n\n   BAD > 1.0\n",
		"expect: \"p99 < 5.0 && \\\n   p99 > 1.0 &&\n   BAD > 1.0\"\n",
		"expect: |\n  p99 < 5.0 &&\n    p99 > 1.0\n\n  && BAD > 1.0\n",
		"expect: |2-\n    p99 < 5.0 &&\n   BAD > 1.0\n",
		"expect: >\n  p99 < 5.0 &&\n  p99 > 1.0 &&\n     p99 > 2.0 &&\n\n  BAD > 1.0\n",
		"x: &q !!str 'p99 < 1.0 && BAD > 1.0'\ny: *q\n",
		"{a: [p99 < 5.0 && BAD > 1.0, 2]}\n",
		"expect: |\r\n  p99 < 5.0 &&\r\n  BAD > 1.0\r\n",
		"\ufeffexpect: BAD > 1.0\n",
		"é: 😀\n日本: p99 > 1.0 && BAD > 1.0\n",
		"- >-\n   // comment not allowed\n   BAD > 1.0\n",
		"a: \"${{ p99 }} and ${{ BAD }}\"\n",
		"expect: >-\n  ${{ max(1,\n  BAD) }}\n",
		"a: \"tab\\tnew\\n${{ BAD }}\"\n",
		"a: \"one\r\n  two \\\r\n  BAD\"\n",
	}
	for _, doc := range docs {
		t.Run(strings.ReplaceAll(doc[:min(len(doc), 40)], "\n", "_"), func(t *testing.T) {
			var probs diag.List
			root := parse(newSource("p", ".", []byte(doc)), &probs)
			if root == nil || probs.HasErrors() {
				t.Fatal(probs)
			}
			text := strings.TrimPrefix(doc, "\ufeff")
			before := text[:strings.Index(text, "BAD")]
			want := diag.Pos{File: "p", Line: strings.Count(before, "\n") + 1}
			want.Col = len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
			found := 0
			var walk func(n *node)
			walk = func(n *node) {
				if i := strings.Index(n.text, "BAD"); n.kind == scalarNode && i >= 0 {
					found++
					if got := n.posIn(len([]rune(n.text[:i]))); got != want {
						t.Errorf("got %v, want %v", got, want)
					}
				}
				for _, it := range n.items {
					walk(it)
				}
				for _, f := range n.fields {
					walk(f.val)
				}
			}
			walk(root)
			if found == 0 {
				t.Error("BAD is in no scalar")
			}
		})
	}
}

func TestHolePositions(t *testing.T) {
	src := "plan: p\ntargets: {t: {endpoints: {http: \"127.0.0.1:1\"}}}\nscenarios:\n  s:\n    repeats: >-\n      ${{ max(1,\n      BAD) }}\n    phases: [measure: {for: \"${{ a }}s\", until: 'x ==  BAD'}]\n"
	p, list := Load("p", Options{ReadFile: func(string) ([]byte, error) { return []byte(src), nil }})
	if len(list) > 0 {
		t.Fatal(list)
	}
	s := p.Scenarios[0]
	h := s.Holes()[0]
	if h.Text != "max(1, BAD)" || !h.Whole || h.When != TimeStage || h.Field != "scenarios.s.repeats" {
		t.Errorf("%+v", h)
	}
	if got := h.Pos(1, 7).String(); got != "p:7:7" { // CEL counts columns from 0
		t.Errorf("BAD is at %s, want p:7:7", got)
	}
	if h := s.Holes()[1]; h.Text != "a" || h.Whole || h.Pos(1, 0).String() != "p:8:34" {
		t.Errorf("%+v at %v", h, h.Pos(1, 0))
	}
	if e := s.Exprs()[0]; e.Text != "x ==  BAD" || e.When != TimeLive || e.Pos(1, 6).String() != "p:8:56" {
		t.Errorf("%+v at %v", e, e.Pos(1, 6))
	}
}
