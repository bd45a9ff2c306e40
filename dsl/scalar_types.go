package dsl

import "time"

// The typed scalars of the language, beside string, bool, int, int64, float64 and time.Duration (250ms, 1m30s).
type (
	// Size is a number of bytes: 64KiB, 1MB, 512.
	Size int64
	// ByteRate is bytes a second: 4KiB/s.
	ByteRate float64
	// Rate is events a second: 200/s, 30/m, or a plain number a second.
	Rate float64
	// Percent is a ratio written as a percentage: 2% is 0.02.
	Percent float64
	// CPUs is a list of CPUs, sorted, without repetition: 0-7,16-23.
	CPUs []int
	// Address is host:port, an IPv6 host in brackets.
	Address string
	// Ident is a name that expressions use: snake_case and not one of CEL's reserved words.
	Ident string
	// Strings is one text or a list of texts.
	Strings []string
)

// An At is a moment in a phase: a duration after its begin, or a percentage of its length.
type At struct {
	Duration time.Duration
	Percent  Percent // used where IsPercent
	// IsPercent says which of the two was written.
	IsPercent bool
}

// In returns the moment in a phase of the given length.
func (a At) In(length time.Duration) time.Duration {
	if a.IsPercent {
		return time.Duration(float64(a.Percent) * float64(length))
	}
	return a.Duration
}
