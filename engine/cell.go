package engine

import (
	"fmt"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/engine/verdict"
)

// A Cell is one (stage, target, scenario, matrix values) of the plan. Its parts are bound as far as is known before
// anything runs.
type Cell struct {
	Coord    record.Coord // Round and Repeat are 0
	Scenario dsl.Part[dsl.Scenario]
	Target   dsl.Part[dsl.Target] // with the scenario's knobs
	With     dsl.Map[dsl.Knob]
	Limits   dsl.Map[dsl.Limits]
	Relays   []string               // names of relays in the path
	Adjusts  map[string]task.Limits // processes whose limits change while they run; of these it matters which are not 0
	Fresh    string                 // target, scenario, run
	Repeats  int                    // 0 if it is known only when the stage begins
	// Unsupported says why the cell has no runs; "" if it has. LeftOut says that --only or --skip left it out, or that
	// its `when` is false.
	Unsupported string
	LeftOut     string

	declared *declared  // what its actions bring
	known    known      // names and values of this cell
	eval     *evaluator // with everything that the plan declares
}

// String is stage/target/scenario with the matrix values, as --only takes it.
func (c *Cell) String() string { return c.Coord.CellName() }

// verdictCoord is the address of a cell in expressions.
func verdictCoord(c record.Coord) verdict.Coord {
	axes := map[string]string{}
	for _, a := range c.Matrix {
		axes[a.Name] = a.Value
	}
	return verdict.Coord{Stage: c.Stage, Scenario: c.Scenario, Target: c.Target, Matrix: verdict.MatrixText(axes)}
}

// combinations lists every combination of the axes' values, the last axis turning fastest.
func combinations(matrix dsl.Map[[]dsl.Value]) [][]axisValue {
	out := [][]axisValue{nil}
	for _, axis := range matrix {
		var next [][]axisValue
		for _, c := range out {
			for _, v := range axis.Val {
				next = append(next, append(append([]axisValue{}, c...), axisValue{axis.Name, v}))
			}
		}
		out = next
	}
	return out
}

type axisValue struct {
	name  string
	value dsl.Value
}

// text is how a coordinate is written: as in the plan, lists and maps by their place in it.
func (a axisValue) text() string {
	if a.value.Written != "" {
		return a.value.Written
	}
	return fmt.Sprint(a.value.V)
}

// installKey says which cells can share an installation: those that agree on the target, its knobs, the limits (and on which of
// them change) and the relays in the path.
func (c *Cell) installKey() string {
	var b strings.Builder
	b.WriteString(c.Coord.Target)
	for _, k := range c.With {
		fmt.Fprintf(&b, "\x00%s=%v", k.Name, k.Val.Value.V)
	}
	for _, l := range c.Limits {
		fmt.Fprintf(&b, "\x00%s:%+v", l.Name, l.Val)
	}
	fmt.Fprintf(&b, "\x00%v\x00%v", c.Relays, c.Adjusts)
	return b.String()
}
