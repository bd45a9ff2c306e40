package proctree

import (
	"testing"

	"github.com/prometheus/procfs"
)

// procfs reads the same, field by field, of every process that there is.
func TestStatIsWhatProcfsReads(t *testing.T) {
	fs, err := FS()
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	var buf []byte
	for _, proc := range all {
		ours, err1 := stat(proc.PID, &buf)
		theirs, err2 := proc.Stat()
		if err1 != nil || err2 != nil {
			if !Gone(err1) && !Gone(err2) {
				t.Errorf("process %d: %v, procfs: %v", proc.PID, err1, err2)
			}
			continue
		}
		compared++
		same(t, ours, theirs)
		if peak, err := PeakRSS(proc.PID); err == nil && !ours.Kernel && !ours.Zombie {
			st, err := proc.NewStatus()
			if err == nil && (uint64(peak) > st.VmHWM || uint64(peak)*2 < st.VmHWM) {
				t.Errorf("process %d: peak %d, procfs says %d", proc.PID, peak, st.VmHWM)
			}
		}
	}
	if compared < 3 {
		t.Errorf("only %d processes were compared", compared)
	}
}

func same(t *testing.T, p *Process, s procfs.ProcStat) {
	t.Helper()
	grown := func(a float64, b float64) bool { return b >= a-1e-9 && b < a+5 }
	switch {
	case p.Parent != s.PPID, p.Start != s.Starttime, p.Name != s.Comm, p.Kernel != (s.Flags&kernelThread != 0):
	case !grown(p.Own.User, float64(s.UTime)/ticksPerSecond), !grown(p.Own.Kernel, float64(s.STime)/ticksPerSecond):
	case !grown(p.Reaped.User, float64(s.CUTime)/ticksPerSecond), !grown(p.Reaped.Kernel, float64(s.CSTime)/ticksPerSecond):
	case p.RSS > 0 && s.RSS > 0 && (p.RSS > 4*int64(s.ResidentMemory()) || 4*p.RSS < int64(s.ResidentMemory())):
	default:
		return
	}
	t.Errorf("read %+v, procfs %+v", p, s)
}

func TestParseStat(t *testing.T) {
	const rest = " S 10 2 2 0 -1 4194304 9 9 9 9 150 50 300 100 20 0 7 0 12345 1000 256 18446744073709551615 1"
	p, err := parseStat(11, []byte("11 (a) b (c)"+rest))
	if err != nil {
		t.Fatal(err)
	}
	want := Process{ID: ID{11, 12345}, Parent: 10, Name: "a) b (c", Own: CPU{1.5, 0.5}, Reaped: CPU{3, 1}, Threads: 7, RSS: 256 * int64(pageSize)}
	if *p != want {
		t.Errorf("%+v, want %+v", *p, want)
	}
	for _, bad := range []string{"", "11", "11 (x", "11 (x)", "11 (x) S 1 2", "11 (x) S ten 2 2 0 -1 4194304 9 9 9 9 150 50 300 100 20 0 7 0 12345 1000 256 1"} {
		if p, err := parseStat(11, []byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("11 (a) b (c) S 10 2 2 0 -1 4194304 9 9 9 9 150 50 300 100 20 0 7 0 12345 1000 256 18446744073709551615 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := parseStat(1, b); (p == nil) == (err == nil) {
			t.Errorf("%v and %v", p, err)
		}
	})
}
