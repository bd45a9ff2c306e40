package published

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads whatever there is: it ends, every problem has a place in the file and something to do about it, and what is
// read is finite, with as many runs as the plan has.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.csv", "../../plans/published/*.csv"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	for _, s := range []string{"", "\ufeff", head, head + "small,nginx,p99_ms,median,1e308\nsmall,nginx,p99_ms,mean,0e999\n", head + "small,nginx,failed,sum,0\nlarge,nginx,balance,run99999,1\n", "\"", "#\n", head + "a,\"b\nc\",d,e,1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		figures, list := Read("f.csv", content)
		if len(figures) == 0 && len(list) == 0 {
			t.Error("neither a figure nor a problem")
		}
		c := cells()
		list = append(list, Runs(figures, c)...)
		for _, p := range list {
			if !p.Pos.IsValid() || p.Pos.Col < 1 || p.Pos.File != "f.csv" || p.Hint == "" || p.Msg == "" {
				t.Errorf("no place, or nothing to do: %v", p)
			}
		}
		for _, x := range c {
			if len(x.Runs) != x.Repeats {
				t.Errorf("%d runs of %d", len(x.Runs), x.Repeats)
			}
			for _, r := range x.Runs {
				for name, v := range r {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s is %v", name, v)
					}
				}
			}
		}
	})
}
