package engine

import (
	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
)

// checkActions finds what is wrong with actions where they stand: what only their kind decides, dsl does not know. The
// same place is reported once however many cells have it.
func (c *compilation) checkActions(cell *Cell) {
	c.outsidePhases("install", cell.Target.Val.Install)
	c.outsidePhases("routes-changed", cell.Target.Val.RoutesChanged)
	for _, p := range cell.Scenario.Val.Phases {
		if record.IsBetween(p.Val.Name) {
			c.list.Addf(p.PosOf("name"), "no phase can be called %q: a result set calls so what lies behind a phase", p.Val.Name).Hint = "leave out the arrow"
		}
		for i := range p.Val.Do {
			a := &p.Val.Do[i]
			c.end(a, p.Has("for"))
			c.undoList(a)
		}
	}
}

// end checks that a lasting action ends, and that only lasting ones are told when.
func (c *compilation) end(a *dsl.Part[dsl.Action], timed bool) {
	if a.Val.Spec == nil {
		return
	}
	if nested, ok := a.Val.Spec.(task.Nested); ok {
		for i, inner := 0, nested.Actions(); i < len(inner); i++ {
			c.undoList(&inner[i])
		}
	}
	switch told := a.Has("for") || a.Has("through"); {
	case lasting(a) && !timed && !told:
		c.list.Addf(a.Pos(), "%s never ends: nothing here has a length", a.Val.Kind).Hint = "give it a for, or its phase"
	case !lasting(a) && told:
		key := "for"
		if a.Has("through") {
			key = "through"
		}
		c.list.Addf(a.PosOf(key), "%s: %s ends by itself", key, a.Val.Kind).Hint = "leave it out"
	}
}

func lasting(a *dsl.Part[dsl.Action]) bool {
	l, ok := a.Val.Spec.(task.Lasting)
	return ok && l.Lasting()
}

// undoList checks that an undo list stands where one can, and holds what can undo.
func (c *compilation) undoList(a *dsl.Part[dsl.Action]) {
	if _, ok := a.Val.Spec.(task.Undoable); !ok && a.Val.Optional {
		c.list.Addf(a.PosOf("optional"), "optional: what %s does belongs to what is measured", a.Val.Kind).Hint = "exec, http and signal can be optional"
	}
	if _, ok := a.Val.Spec.(task.Undoable); !ok && len(a.Val.Undo) > 0 {
		c.list.Addf(a.PosOf("undo"), "undo: what %s changes is undone by itself", a.Val.Kind).Hint = "exec, http and signal have an undo"
		return
	}
	for i := range a.Val.Undo {
		u := &a.Val.Undo[i]
		if u.Val.Optional {
			c.list.Addf(u.PosOf("optional"), "optional: what undoes something is no choice").Hint = "leave it out"
		}
		if _, ok := u.Val.Spec.(task.UndoStep); !ok && u.Val.Spec != nil {
			c.list.Addf(u.Pos(), "undo: %s cannot undo", u.Val.Kind).Hint = "exec, http and signal can"
		}
	}
}

// outsidePhases checks actions that run one after another before there is a phase.
func (c *compilation) outsidePhases(where string, actions []dsl.Part[dsl.Action]) {
	walkActions(actions, func(a *dsl.Part[dsl.Action]) {
		if lasting(a) {
			c.list.Addf(a.Pos(), "%s cannot stand in %s: it lasts for a phase", a.Val.Kind, where).Hint = "put it into a phase of a scenario"
		}
		if record.Churns(a.Val.Kind) {
			c.list.Addf(a.Pos(), "%s cannot stand in %s: it is undone when a run ends", a.Val.Kind, where).Hint = "put it into a phase of a scenario"
		}
		for _, key := range []string{"at", "every", "for", "through"} {
			if a.Has(key) {
				c.list.Addf(a.PosOf(key), "%s: there is no phase in %s", key, where).Hint = "leave it out: the actions run one after another"
			}
		}
		c.undoList(a)
	})
}
