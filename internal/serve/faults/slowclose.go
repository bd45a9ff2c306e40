package faults

import (
	"fmt"
	"time"
)

// SlowClose are the attributes of the toxic "slow-close": the end of a stream is passed on so long after it came.
type SlowClose struct {
	Delay time.Duration `json:"delay"` // nanoseconds
}

var slowCloseKind = kind{"slow-close", attributes[SlowClose], mean}

func (s SlowClose) check() error {
	if s.Delay < 0 || s.Delay > MaxLatency {
		return fmt.Errorf("delay %v: from 0 to %v", s.Delay, MaxLatency)
	}
	return nil
}

func (s SlowClose) effect(h *hold) effect { return &slowClose{s, h} }

type slowClose struct {
	SlowClose
	hold *hold
}

func (s *slowClose) end(at time.Time) time.Time {
	due := at.Add(s.Delay)
	if late, ok := s.hold.until(due); ok {
		s.hold.measure(int64(s.Delay+late), 1)
	}
	return due
}
