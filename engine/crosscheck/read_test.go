package crosscheck

import (
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
)

// What the generators printed at real servers, as figures.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		dir    string // GENERATOR-CASE below testdata
		expect load.Expect
		want   record.Figures
	}{
		{"wrk-closed", load.Expect{}, record.Figures{Requests: 10349, ReqPerS: 9262.07, P50: ms(0.122), P90: ms(6.328), P99: ms(23), P999: ms(43.587)}},
		{"wrk-404", load.Expect{}, record.Figures{Requests: 6274, Failed: 6274, P50: ms(0.267), P90: ms(2.086), P99: ms(25.156), P999: ms(32.246)}},
		{"wrk-404", load.Expect{Status: 404}, record.Figures{Requests: 6274, ReqPerS: 5747.34, P50: ms(0.267), P90: ms(2.086), P99: ms(25.156), P999: ms(32.246)}},
		{"h2load-rate", load.Expect{}, record.Figures{Requests: 150, ReqPerS: 150, P50: ms(0.449), P90: ms(1.675), P99: ms(12.187), P999: ms(12.449)}},
		{"h2load-404", load.Expect{}, record.Figures{Requests: 61, Failed: 61}},
		{"h2load-404", load.Expect{Status: 404}, record.Figures{Requests: 61, ReqPerS: 61, P50: ms(0.539), P90: ms(2.531), P99: ms(22.903), P999: ms(22.903)}},
		{"h2load-refused", load.Expect{}, record.Figures{}},
		{"fortio-rate", load.Expect{}, record.Figures{Requests: 150, ReqPerS: 149.63, P50: ms(0.53125), P90: ms(1.125), P99: ms(15.962), P999: ms(19.182)}},
		{"fortio-404", load.Expect{}, record.Figures{Requests: 60, Failed: 60, P50: ms(1.3538), P90: ms(6), P99: ms(14.1187), P999: ms(15.7074)}},
		{"fortio-404", load.Expect{Status: 404}, record.Figures{Requests: 60, ReqPerS: 59.8639, P50: ms(1.3538), P90: ms(6), P99: ms(14.1187), P999: ms(15.7074)}},
		{"fortio-refused", load.Expect{}, record.Figures{Requests: 2104, Failed: 2104, P50: ms(0.03795), P90: ms(0.155579), P99: ms(32.96), P999: ms(70.4)}},
		{"vegeta-rate", load.Expect{}, record.Figures{Requests: 150, ReqPerS: 150.8318, P50: ms(0.892741), P90: ms(2.157915), P99: ms(13.500499)}},
		{"vegeta-404", load.Expect{}, record.Figures{Requests: 60, Failed: 60, P50: ms(1.034), P90: ms(2.847), P99: ms(19.97)}},
		{"vegeta-404", load.Expect{Status: 404}, record.Figures{Requests: 60, ReqPerS: 60.9632, P50: ms(1.034), P90: ms(2.847), P99: ms(19.97)}},
		{"vegeta-refused", load.Expect{}, record.Figures{Requests: 659, Failed: 659, P50: ms(0.13878), P90: ms(1.098551), P99: ms(59.861321)}},
	} {
		name, _, _ := strings.Cut(c.dir, "-")
		got, err := Find(name).Read(os.DirFS("testdata/"+c.dir), c.expect)
		if err != nil {
			t.Errorf("%s: %v", c.dir, err)
			continue
		}
		if got.Requests != c.want.Requests || got.Failed != c.want.Failed || !near(&got.ReqPerS, &c.want.ReqPerS) ||
			!near(got.P50, c.want.P50) || !near(got.P90, c.want.P90) || !near(got.P99, c.want.P99) || !near(got.P999, c.want.P999) {
			t.Errorf("%s, status %d:\ngot  %s\nwant %s", c.dir, c.expect.Status, show(got), show(c.want))
		}
	}
}

// near compares within 0.1 %, which is what a histogram rounds.
func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 0.001**b
}

func show(f record.Figures) string {
	var b strings.Builder
	for _, v := range []*float64{&f.ReqPerS, f.P50, f.P90, f.P99, f.P999} {
		if v == nil {
			b.WriteString(" nil")
		} else {
			b.WriteString(" " + strings.TrimRight(strings.TrimRight(fmtFloat(*v), "0"), "."))
		}
	}
	return fmtFloat(float64(f.Requests)) + " requests, " + fmtFloat(float64(f.Failed)) + " failed," + b.String()
}

// What is no figure is an error that says so.
func TestReadWrong(t *testing.T) {
	const summary = "finished in 1.00s, 150.00 req/s, 1KB/s\nrequests: 2 total, 2 started, 2 done, 2 succeeded, 0 failed, 0 errored, 0 timeout\n"
	for _, c := range []struct {
		generator string
		files     map[string]string
		says      string
	}{
		{"wrk", nil, "output.txt"},
		{"wrk", map[string]string{wrkOutput: "unable to connect\n"}, "its script printed nothing"},
		{"wrk", map[string]string{wrkOutput: wrkMark + `{"us":1,"req`}, "unexpected end of JSON"},
		{"wrk", map[string]string{wrkOutput: wrkMark + `{"us":0,"requests":5}`}, "make no sense"},
		{"wrk", map[string]string{wrkOutput: wrkMark + `{"us":1,"requests":5,"status":6}`}, "make no sense"},
		{"h2load", map[string]string{h2loadOutput: summary}, h2loadLog},
		{"h2load", map[string]string{h2loadOutput: "starting benchmark...\n", h2loadLog: ""}, "its summary is not there"},
		{"h2load", map[string]string{h2loadOutput: summary, h2loadLog: "1 200 3\n"}, "has no three columns"},
		{"h2load", map[string]string{h2loadOutput: summary, h2loadLog: "1\tOK\t3\n"}, "invalid syntax"},
		{"h2load", map[string]string{h2loadOutput: summary, h2loadLog: "1\t200\t99999999999999999999\n"}, "out of range"},
		{"fortio", map[string]string{fortioJSON: "{"}, "unexpected end of JSON"},
		{"fortio", map[string]string{fortioJSON: "{}"}, "make no sense"},
		{"fortio", map[string]string{fortioJSON: `{"ActualDuration": 1e9, "RetCodes": {"OK": 3}}`}, "its codes"},
		{"fortio", map[string]string{fortioJSON: `{"ActualDuration": 1e9, "RetCodes": {"200": -3}}`}, "make no sense"},
		{"vegeta", map[string]string{vegetaReport: `{"status_codes": {"x": 1}}`}, "its codes"},
		{"vegeta", map[string]string{vegetaReport: `{"requests": 1, "status_codes": {"200": 2}}`}, "make no sense"},
		{"vegeta", map[string]string{vegetaReport: `{"requests": 1, "status_codes": {"200": 1}, "latencies": {"50th": -5}}`}, "make no sense"},
	} {
		dir := fstest.MapFS{}
		for name, text := range c.files {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
		f, err := Find(c.generator).Read(dir, load.Expect{})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.generator) {
			t.Errorf("%s %v: %v, %v; want an error that says %q", c.generator, c.files, show(f), err, c.says)
		}
	}
}

// Whatever they print, there is an error or figures that make sense.
func FuzzRead(f *testing.F) {
	for _, dir := range []string{"wrk-closed", "wrk-404", "h2load-rate", "h2load-refused", "fortio-rate", "fortio-404", "vegeta-rate", "vegeta-refused"} {
		var texts [2]string
		err := fs.WalkDir(os.DirFS("testdata/"+dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile("testdata/" + dir + "/" + path)
			i := 0
			if path == h2loadLog {
				i = 1
			}
			texts[i] = string(b)
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(texts[0], texts[1], 0)
		f.Add(texts[0], texts[1], 404)
	}
	f.Fuzz(func(t *testing.T, text, log string, status int) {
		for _, g := range Generators {
			dir := fstest.MapFS{}
			for _, name := range []string{wrkOutput, h2loadOutput, fortioJSON, vegetaReport} {
				dir[name] = &fstest.MapFile{Data: []byte(text)}
			}
			dir[h2loadLog] = &fstest.MapFile{Data: []byte(log)}
			got, err := g.Read(dir, load.Expect{Status: status})
			if err != nil {
				continue
			}
			if again := defined(got); again != nil || got.ReqPerS > 0 && got.Requests == 0 {
				t.Errorf("%s: %s", g.Name, show(got))
			}
			_ = Comparable(got)
		}
	})
}
