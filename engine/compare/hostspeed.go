package compare

import (
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/stats"
)

// From which factor on two speeds of the host are worth a word: where it is beyond the noise of the runs, and where their noise
// is not known. docs/decisions/0031 says why.
const (
	hostApart       = 1.05
	hostApartOfFew  = 1.15
	hostSpeedMetric = "host_speed"
)

// HostSpeed compares how much work a CPU of the machine did in its time while two sides were measured. Apart is true if the
// machine was not equally fast for them: figures of CPU time and rates may then differ for that alone.
func HostSpeed(of, to Side) (c Comparison, apart bool) {
	c = Metric(ParseName(hostSpeedMetric), series.Desc{Name: hostSpeedMetric, Across: series.Median, Class: series.Count}, of, to, Options{})
	r := c.Ratio
	if r.NA != "" || r.Value <= 0 {
		return c, false
	}
	factor := max(r.Value, 1/r.Value)
	switch r.Noise {
	case stats.Beyond:
		return c, factor >= hostApart
	case stats.Unknown:
		return c, factor >= hostApartOfFew
	}
	return c, false
}
