package uring

import (
	"fmt"
	"math"
	"math/bits"
)

// A Config says how large a ring is. The zero value works.
type Config struct {
	Entries     int // operations that are queued before they are submitted by themselves, 1 to 32768; 1024 if 0
	Completions int // length of the completion queue, at least Entries, up to 65536; four times Entries if 0
	Buffers     int // receive buffers, 1 to 32768; 256 if 0
	BufferSize  int // of each, in bytes, 1 to 16 MiB, up to 4 GiB for all; 16384 if 0
}

// The kernel rounds the queues up to powers of two by itself.
const (
	maxEntries     = 32768
	maxCompletions = 65536
	maxBuffers     = 32768
	maxBufferSize  = 16 << 20
	maxMemory      = 4 << 30
)

func (c Config) complete() (Config, error) {
	for _, f := range []struct {
		name       string
		value      *int
		byDefault  int
		least, max int
	}{
		{"entries", &c.Entries, 1024, 1, maxEntries},
		{"completions", &c.Completions, 0, 1, maxCompletions},
		{"buffers", &c.Buffers, 256, 1, maxBuffers},
		{"bytes a buffer", &c.BufferSize, 16384, 1, maxBufferSize},
	} {
		if *f.value == 0 {
			*f.value = f.byDefault
		}
		if f.name == "completions" && *f.value == 0 {
			*f.value = min(4*c.Entries, maxCompletions)
		}
		if *f.value < f.least || *f.value > f.max {
			return c, fmt.Errorf("an io_uring of %d %s: 0 (the default) or %d to %d can be had", *f.value, f.name, f.least, f.max)
		}
	}
	if c.Completions < c.Entries {
		return c, fmt.Errorf("an io_uring of %d completions: at least the %d entries are needed", c.Completions, c.Entries)
	}
	c.Buffers = 1 << bits.Len(uint(c.Buffers-1))
	if int64(c.Buffers)*int64(c.BufferSize) > maxMemory {
		return c, fmt.Errorf("%d buffers of %d bytes for an io_uring: more than 4 GiB", c.Buffers, c.BufferSize)
	}
	return c, nil
}

// Flags of a completion.
const (
	More     = 1 << 1 // the operation goes on: more completions will come of it
	NonEmpty = 1 << 2 // after a receive: the socket has more data
)

// Special user data. All lower values are the caller's.
const (
	// Woken comes from Wake, not from an operation.
	Woken uint64 = math.MaxUint64
	// Nobody is for operations of which no completion is wanted, successful or not.
	Nobody uint64 = math.MaxUint64 - 1
)
