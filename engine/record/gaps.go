package record

import (
	"fmt"
	"os"
)

// recorded are the files of a run that are appended to while it goes on.
var recorded = []string{"series.jsonl", "latency.hlog", "events.jsonl"}

// Gaps says what is missing of what was recorded of a run that ended, without reading it: a file that is not there, or
// does not have the length that it had when the run ended.
func (s *Set) Gaps(r *Run) (notes []string) {
	if r.Status == Unsupported || r.Status == Skipped || r.Published != nil || r.Install == "" && r.Status == Failed {
		return nil
	}
	for _, name := range recorded {
		want, known := r.Files[name]
		switch info, err := os.Stat(s.Path("runs", r.ID, name)); {
		case err != nil:
			notes = append(notes, name+": the file is missing")
		case known && info.Size() != want:
			notes = append(notes, fmt.Sprintf("%s: it has %d bytes; it had %d when the run ended", name, info.Size(), want))
		}
	}
	return notes
}

// lengths are those of a run's files, in bytes.
func lengths(dir string) map[string]int64 {
	out := map[string]int64{}
	for _, name := range recorded {
		if info, err := os.Stat(dir + string(os.PathSeparator) + name); err == nil {
			out[name] = info.Size()
		}
	}
	return out
}
