package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/planrun/planrun/engine/record"
)

// unread collects what could not be read of what was recorded of runs, while verdicts and the report ask for it: the others
// stand. Its zero value works.
type unread struct {
	mu  sync.Mutex
	why map[string][]string // by run
}

// recorded reads a part of a run. What cannot be read of it is noted, and left out.
func (u *unread) recorded(set *record.Set, r *record.Run, p record.Part) (*record.Data, error) {
	d, err := set.Recorded(r, p)
	if err == nil {
		return d, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.why == nil {
		u.why = map[string][]string{}
	}
	for _, line := range strings.Split(err.Error(), "\n") { // a file each
		line = strings.TrimPrefix(line, "run "+r.ID+": ")
		if !slices.Contains(u.why[r.ID], line) {
			u.why[r.ID] = append(u.why[r.ID], line)
		}
	}
	return d, err
}

// known is what is known of it by now.
func (u *unread) known() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := map[string]string{}
	for id, why := range u.why {
		out[id] = strings.Join(why, "; ")
	}
	return out
}

// failures says of each run what of it could not be read, as gathered.failed does.
func (u *unread) failures(runs []*record.Run) (out []string) {
	known := u.known()
	for _, r := range runs {
		if why := known[r.ID]; why != "" {
			out = append(out, r.Coord.CellName()+": what was recorded of run "+r.ID+" cannot all be read: "+why)
		}
	}
	return out
}
