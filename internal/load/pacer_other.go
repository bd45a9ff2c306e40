//go:build !linux

package load

import "time"

func sleepPrecisely() {}

func switchedOff() (int64, bool) { return 0, false }

func pause(ns int64) { time.Sleep(time.Duration(ns)) }
