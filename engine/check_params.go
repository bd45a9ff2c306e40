package engine

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// checkParams warns of params that nothing reads: a mistyped name leaves the included value as it is, without a word. Of
// what a plan includes it need not use everything, so only the params that its own file writes count. It is no more than
// a warning, so that an expression can be taken out for a while.
func (c *compilation) checkParams() {
	var own []*dsl.Part[dsl.Param]
	for i := range c.Plan.Params {
		if p := &c.Plan.Params[i]; c.own(p.Pos()) {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return
	}
	read := c.readParams()
	var names []string // that something reads
	for _, name := range c.Plan.Params.Names() {
		if read[name] {
			names = append(names, name)
		}
	}
	for _, p := range own {
		if read[p.Name] {
			continue
		}
		w := c.list.Addf(p.Pos(), "nothing reads the param %s", p.Name)
		w.Warning, w.Hint = true, fmt.Sprintf("write params.%s where its value is meant, or leave it out", p.Name)
		w.End = w.Pos
		w.End.Col += len([]rune(p.Name))
		if meant := dsl.Suggest(p.Name, names, ""); strings.HasPrefix(meant, "did you mean") {
			w.Hint = meant
		}
	}
}

// own reports whether something stands in the plan's own file, not in one that it includes.
func (c *compilation) own(at diag.Pos) bool { return at.File == filepath.Clean(c.Plan.File) }

// readParams are the params that an expression of the plan reads, wherever it stands, also where no stage runs it.
func (c *compilation) readParams() map[string]bool {
	read, seen := map[string]bool{}, map[string]bool{}
	for _, text := range c.Plan.Expressions() {
		if seen[text] || !strings.Contains(text, "params") {
			continue
		}
		seen[text] = true
		for _, name := range c.paramsIn(text) {
			read[name] = true
		}
	}
	for i := range c.Plan.Params {
		for _, h := range c.Plan.Params[i].Holes() {
			for _, name := range c.paramsIn(h.Text) {
				read[name] = true
			}
		}
	}
	return read
}
