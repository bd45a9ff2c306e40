package diff

import (
	"cmp"
	"slices"
)

// A Group says what a Difference is about; they are listed in this order.
type Group string

// The groups.
const (
	Measured    Group = "what is measured" // loads, scenarios, backends, params
	Environment Group = "environment"
	Programs    Group = "programs"
	Targets     Group = "targets" // their knobs, how they are installed
	Schedule    Group = "schedule"
	Texts       Group = "texts" // verdicts, report, explanations: they change no figure
)

var groups = []Group{Measured, Environment, Programs, Targets, Schedule, Texts}

// A Difference between two sets, beside their figures.
type Difference struct {
	Group Group  `json:"group"`
	Where string `json:"where"` // a path of the plan ("targets.nginx.with.workers"), a field of the environment ("kernel"), a target
	A     string `json:"a"`     // "" where a side has nothing there
	B     string `json:"b"`
	Words string `json:"words"` // all of it, as a sentence without a point
	// Among is the side of which A is the first set and B a further one; "" for a difference between the sides.
	Among string `json:"among,omitempty"`
}

// sides is how a sentence says two values.
func sides(a, b string) string {
	switch {
	case a == "":
		return b + " in B, nothing in A"
	case b == "":
		return a + " in A, nothing in B"
	}
	return a + " in A, " + b + " in B"
}

// text is a side of a change as it is shown, "" for nothing.
func text(v any) string {
	if v == nil {
		return ""
	}
	return shown(v)
}

func sortDifferences(d []Difference) {
	slices.SortStableFunc(d, func(x, y Difference) int {
		return cmp.Compare(slices.Index(groups, x.Group), slices.Index(groups, y.Group))
	})
}
