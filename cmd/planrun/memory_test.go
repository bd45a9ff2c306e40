package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record/sized"
)

// mostOfASecond is how much memory a second of the length of runs may take, in bytes: of the one or two runs that are in memory
// with all their samples while they are drawn.
const mostOfASecond = 64 << 10

// Judging, reporting and comparing sets takes memory for runs and metrics, not for samples: runs ten times as long take
// hardly more, however many there are.
func TestMemoryOfLongRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large result sets")
	}
	const short, long = 30, 300
	peaks := map[int]map[string]uint64{}
	for _, seconds := range []int{short, long} {
		var dirs []string
		for _, name := range []string{"a", "b"} {
			dir := filepath.Join(t.TempDir(), name)
			if _, err := sized.Make(dir, sized.Size{Targets: 1, Scenarios: 2, Repeats: 6, Recordings: 1, Seconds: seconds}); err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, dir)
		}
		peaks[seconds] = map[string]uint64{}
		for _, args := range [][]string{{"judge", dirs[0]}, {"report", dirs[1]}, append([]string{"diff"}, dirs...)} {
			peaks[seconds][args[0]] = peakOf(t, args)
		}
	}
	for command, most := range peaks[long] {
		few := peaks[short][command]
		t.Logf("%s: %d bytes for runs of %d s, %d for runs of %d s", command, few, short, most, long)
		if most > few+(long-short)*mostOfASecond {
			t.Errorf("%s holds %d bytes of a set with runs of %d s, of %d s %d", command, most, long, short, few)
		}
	}
}

// peakOf is the most memory that a command had in use at once, in bytes.
func peakOf(t *testing.T, args []string) (most uint64) {
	t.Helper()
	before := inUse()
	done := make(chan int)
	var said bytes.Buffer
	go func() { done <- run(t.Context(), args, strings.NewReader(""), &said, &said) }()
	for {
		select {
		case exit := <-done:
			if exit != exitOK {
				t.Fatalf("%q: exit %d: %s", args, exit, said.String())
			}
			return most - min(most, before)
		default:
			most = max(most, inUse())
		}
	}
}

// inUse is how much memory is in use, without garbage.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
