package record

import (
	"fmt"
	"strconv"
)

// InForce tells whether a fault that is no toxic was in force, and in words what shows it.
func (f Fault) InForce() (ok bool, why string) {
	switch {
	case f.Gone != "":
		return false, f.Gone
	case f.Kind == "drop" && f.Packets == 0:
		return false, "no packet came that could have been dropped"
	case f.Kind == "drop" && f.Dropped == 0 && f.Share > 0:
		return false, fmt.Sprintf("none of the %d packets that came was dropped (%s were to be)", f.Packets, percent(f.Share))
	case f.Kind == "drop":
		return true, fmt.Sprintf("%d of %d packets were dropped (%s; %s were to be)", f.Dropped, f.Packets, percent(float64(f.Dropped)/float64(f.Packets)), percent(f.Share))
	case f.Kind == "pause":
		return true, fmt.Sprintf("everything was seen to be stopped for %.2f of %.2f s", f.StoppedS, f.End-f.Start)
	case f.Seen != "":
		return true, f.Seen
	}
	return true, "it was made"
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 3, 64) + " %" }
