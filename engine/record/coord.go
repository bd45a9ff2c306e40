package record

import "strings"

// An Axis is one matrix coordinate.
type Axis struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Coord addresses a run. Round and Repeat count from 1.
type Coord struct {
	Stage    string `json:"stage"`
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Matrix   []Axis `json:"matrix,omitempty"`
	Round    int    `json:"round"`
	Repeat   int    `json:"repeat"`
}

// CellName is how stages and environments name the cell of a run: stage/target/scenario[axis=value,axis=value].
func (c Coord) CellName() string {
	s := c.Stage + "/" + c.Target + "/" + c.Scenario
	if len(c.Matrix) > 0 {
		axes := make([]string, len(c.Matrix))
		for i, a := range c.Matrix {
			axes[i] = a.Name + "=" + a.Value
		}
		s += "[" + strings.Join(axes, ",") + "]"
	}
	return s
}
