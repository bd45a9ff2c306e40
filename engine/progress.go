package engine

import (
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
)

// A Progress is told what happens, as it happens, by any goroutine. It must not block.
type Progress interface {
	Begin(dir string, total time.Duration)                   // the result set, and how long it will take in all; 0 is not known
	Install(target string)                                   // a target is being installed
	Run(c record.Coord, length time.Duration)                // a run begins
	Phase(c record.Coord, name string, length time.Duration) // a phase begins; its length is 0 if it ends by itself
	Load(c record.Coord, name string, s load.Sample)         // a load worker reported
	Point(c record.Coord, p series.Point)                    // a probe read something
	Event(c record.Coord, e record.Event)                    // something happened
	Note(target, text string)                                // something outside of a run
	Done(r *record.Run)                                      // a run is over
	None(c record.Coord, status, why string)                 // a cell has no run
	End()                                                    // everything is over and undone
}

// Quiet shows nothing.
type Quiet struct{}

func (Quiet) Begin(string, time.Duration)               {}
func (Quiet) Install(string)                            {}
func (Quiet) Run(record.Coord, time.Duration)           {}
func (Quiet) Phase(record.Coord, string, time.Duration) {}
func (Quiet) Load(record.Coord, string, load.Sample)    {}
func (Quiet) Point(record.Coord, series.Point)          {}
func (Quiet) Event(record.Coord, record.Event)          {}
func (Quiet) Note(string, string)                       {}
func (Quiet) Done(*record.Run)                          {}
func (Quiet) None(record.Coord, string, string)         {}
func (Quiet) End()                                      {}
