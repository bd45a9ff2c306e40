package verdict

import (
	"context"
	"strings"
	"testing"
)

// FuzzCompile: no panic, and every problem has a place in the text.
func FuzzCompile(f *testing.F) {
	for _, r := range rows {
		f.Add(r.expr)
	}
	c, d := newCompiler(f)
	f.Fuzz(func(t *testing.T, text string) {
		for at := AtPlan; at <= AtJudge; at <<= 1 {
			cell := Coord{}
			if at&InCell != 0 {
				cell = coordOf(t, c.ix, slow)
			}
			p, ps := c.Compile(text, at, []Coord{cell})
			if (p == nil) != (len(ps) > 0) {
				t.Fatalf("%q: a program and problems, or neither: %v", text, ps)
			}
			lines := strings.Split(text, "\n")
			for _, x := range ps {
				if x.Line < 1 || x.Line > len(lines)+1 || x.Col < 1 || x.Msg == "" {
					t.Fatalf("%q: %+v", text, x)
				}
			}
			if p != nil {
				r := p.Eval(context.Background(), Values{At: cell, Data: d})
				if (r.Value == nil) == (r.Err == nil) {
					t.Fatalf("%q: a value and an error, or neither: %+v", text, r)
				}
			}
		}
	})
}
