package compare

import (
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// Outcome is what a comparison says of its first side against its second.
type Outcome string

// The outcomes. Better, Worse and Differs are beyond the noise.
const (
	Better      Outcome = "better"
	Worse       Outcome = "worse"
	Differs     Outcome = "differs" // the metric has no better direction
	WithinNoise Outcome = "within noise"
	Unknown     Outcome = "noise unknown" // Ratio.Why says why
	Untrusted   Outcome = "not to be trusted"
	NA          Outcome = "n/a" // Ratio.NA says why
)

// Outcome of Of against To.
func (c Comparison) Outcome() Outcome {
	switch {
	case c.Ratio.NA != "":
		return NA
	case len(c.Tainted) > 0:
		return Untrusted
	case c.Ratio.Noise == stats.Unknown:
		return Unknown
	case c.Ratio.Noise == stats.Within:
		return WithinNoise
	case c.Better == series.Neither:
		return Differs
	case (c.Ratio.Value > 1) == (c.Better == series.Higher):
		return Better
	}
	return Worse
}
