package record

import (
	"fmt"
	"math"
	"strings"
)

// Limits of a process, or of a role whose processes share them. 0 is no limit.
type Limits struct {
	Memory    int64   `json:"memory,omitempty"` // bytes
	CPU       float64 `json:"cpu,omitempty"`    // cores
	Processes int     `json:"processes,omitempty"`
}

// Words says which limits these are.
func (l *Limits) Words() string {
	if l == nil {
		return "none"
	}
	var out []string
	if l.CPU > 0 {
		out = append(out, fmt.Sprintf("%.4g CPUs", l.CPU))
	}
	if l.Memory > 0 {
		out = append(out, fmt.Sprintf("%.4g MiB", float64(l.Memory)/(1<<20)))
	}
	if l.Processes > 0 {
		out = append(out, fmt.Sprintf("%d processes", l.Processes))
	}
	return strings.Join(out, ", ")
}

// Holds reports whether limits are those that were asked for. The kernel counts memory in pages and CPU time in microseconds.
func (l *Limits) Holds(want *Limits) bool {
	if want == nil {
		return true
	}
	if l == nil {
		l = &Limits{}
	}
	const page = 64 << 10 // the largest that Linux has
	near := func(a, b, by float64) bool { return math.Abs(a-b) <= by }
	return (want.Memory == 0 || l.Memory > 0 && near(float64(l.Memory), float64(want.Memory), page)) &&
		(want.CPU == 0 || near(l.CPU, want.CPU, 0.01)) && (want.Processes == 0 || l.Processes == want.Processes)
}
