package dsl

import (
	"fmt"

	"github.com/planrun/planrun/dsl/diag"
)

// A Check collects what is wrong with one spec.
type Check struct {
	d *decoder
	n *node
	f *field
}

// Errorf reports a problem with the named key of the spec; "" is the spec itself. It returns the problem, so that a hint
// can be added. A problem with a key that holds an unfilled expression is dropped: it is checked again when it is bound.
func (c *Check) Errorf(key, format string, args ...any) *diag.Problem {
	n, what := c.n, c.f.name()
	if key != "" {
		what = key
		if val := c.n.get(key); val != nil {
			n = val
		}
	}
	if key != "" && n != c.n && n.hasHoles() {
		return new(diag.Problem)
	}
	return c.d.errorf(n, "%s: %s", what, fmt.Sprintf(format, args...))
}

// Warnf is Errorf for a warning.
func (c *Check) Warnf(key, format string, args ...any) *diag.Problem {
	p := c.Errorf(key, format, args...)
	p.Warning = true
	return p
}

// Laterf says that the value of a key is in the language, but that this build cannot run it, and why. Check accepts it;
// whoever runs the plan refuses it at its place before anything is installed.
func (c *Check) Laterf(key, format string, args ...any) {
	n := c.n
	if val := c.n.get(key); val != nil {
		n = val
	}
	if n == c.n || !n.hasHoles() {
		c.d.notYet(n, key, fmt.Sprintf(format, args...))
	}
}

// Has reports whether a key was written (its value may be an unfilled expression).
func (c *Check) Has(key string) bool { return c.n.get(key) != nil }

// Known reports whether the value of a key is known: it holds no unfilled expression.
func (c *Check) Known(key string) bool { return !c.n.get(key).hasHoles() }

// Entry reports whether the spec is an entry of loads: an action that builds on it may write what it leaves out.
func (c *Check) Entry() bool { return c.f != nil && c.f.entry }
