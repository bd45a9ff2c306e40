package dsl

import "fmt"

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

// ScalarValue reads a text as a plain scalar of the plan: a number, a number with a unit in its base unit (5s is 5), true,
// false, else the text itself.
func ScalarValue(text string) any { return scalarValue(text) }

// Suggest says what to write instead of a name that is not known: the nearest of the known ones, or all of them. What
// is what they are, in the plural.
func Suggest(name string, known []string, what string) string { return suggest(name, known, what) }

// Whole reports whether everything that the plan is made of could be read, so that a name that is not there is missing.
// Problems may still have been found in it.
func (p *Plan) Whole() bool { return p.root != nil && !p.l.broken }
