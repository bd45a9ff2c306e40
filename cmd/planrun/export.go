package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/export"
	"github.com/planrun/planrun/engine/record"
)

// exportFormats are the names of --format.
var exportFormats = []string{"csv", "junit", "benchfmt", "openmetrics"}

func (p *program) exportCommand() *cobra.Command {
	var format, out string
	var series bool
	var opt export.Options
	c := &cobra.Command{
		Use:   "export [DIR]",
		Short: "Write a result set for other tools: csv, junit, benchfmt, openmetrics",
		Long: `Write a result set (the newest one if none is named) in a format of other tools, on standard output or into a file:

  csv          every value, a row each, for spreadsheets and data frames; with --series what was sampled over time
  junit        verdicts as tests, for CI systems (GitLab, Jenkins, GitHub): red where planrun's exit code is not 0
  benchfmt     runs as results of Go benchmarks: benchstat compares two sets, or two targets of one
  openmetrics  values as gauges and counters, for Prometheus and what reads its format

Nothing is judged again: planrun judge does that.`,
		Example: `  planrun export --format junit --out junit.xml
  planrun export results/before --format benchfmt --headline --out before.txt
  planrun export --format csv --metric req_per_s --metric p99_ms --runs
  planrun export --format csv --series --out series.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := oneSet(args)
			if err != nil {
				return err
			}
			if err := exportFlags(c, format, series); err != nil {
				return err
			}
			set, res, err := p.results(dir, format, series)
			if err != nil {
				return err
			}
			if err := knownMetrics(res, opt.Metrics); err != nil {
				return err
			}
			return p.into(c.Context(), out, func(w io.Writer) error { return p.exportAs(w, format, series, set, res, opt) })
		},
	}
	c.Flags().StringVar(&format, "format", "", "`FORMAT`: "+strings.Join(exportFormats, ", "))
	c.Flags().StringVar(&out, "out", "", "`FILE` to write, or to replace once all is written; standard output if left out")
	c.Flags().StringArrayVar(&opt.Metrics, "metric", nil, "only this `METRIC`: p99_ms, or of one window phase/fault/p99_ms; may be repeated")
	c.Flags().BoolVar(&opt.Headline, "headline", false, "only the headline window")
	c.Flags().BoolVar(&opt.Runs, "runs", false, "csv: the values of single runs too")
	c.Flags().BoolVar(&opt.Figures, "figures", false, "csv: only what planrun import reads, of the headline: scenario, target, metric, statistic, value")
	c.Flags().BoolVar(&series, "series", false, "csv: instead of values what was sampled, by run and time")
	return c
}

// exportFlags finds flags that say nothing of the format.
func exportFlags(c *cobra.Command, format string, series bool) error {
	if format == "" {
		return fmt.Errorf("which format? --format %s", strings.Join(exportFormats, "|"))
	}
	if !slices.Contains(exportFormats, format) {
		return fmt.Errorf("--format %s: no such format; %s", format, dsl.Suggest(format, exportFormats, "there are"))
	}
	for _, flag := range []struct {
		name string
		ok   bool
	}{
		{"runs", format == "csv" && !series}, {"figures", format == "csv" && !series}, {"series", format == "csv"},
		{"metric", format != "junit" && !series}, {"headline", format != "junit" && !series},
	} {
		if c.Flags().Changed(flag.name) && !flag.ok {
			with := ""
			if series && format == "csv" {
				with = " --series"
			}
			return fmt.Errorf("--%s does not go with --format %s%s", flag.name, format, with)
		}
	}
	if c.Flags().Changed("out") && c.Flags().Lookup("out").Value.String() == "" {
		return errors.New("--out '' names no file; name one, or leave --out out")
	}
	return nil
}

func (p *program) exportAs(w io.Writer, format string, series bool, set *record.Set, res *record.Results, opt export.Options) error {
	switch {
	case series:
		return export.SeriesCSV(w, set, p.samplesLeftOut)
	case format == "csv":
		return export.CSV(w, set, res, opt)
	case format == "junit":
		return export.JUnit(w, set, res)
	case format == "benchfmt":
		return export.Benchfmt(w, set, res, opt)
	}
	return export.OpenMetrics(w, res, opt)
}

// results opens a result set with its results. One whose planrun was killed has none: they are made first, as planrun report
// makes them. Formats that hold no figures need no cells.
func (p *program) results(dir, format string, series bool) (*record.Set, *record.Results, error) {
	set, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	set.Unread = p.leftOut(dir, (format == "csv" && !series) || format == "junit")
	read := set.Results
	if format == "junit" {
		read = set.Judged
	}
	res, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		out, err := p.conclude([]string{dir}, "plan")
		if err != nil {
			return nil, nil, err
		}
		out.Set.Unread = set.Unread
		return out.Set, out.Results, nil
	}
	if err != nil {
		p.exit = exitHarness
	}
	return set, res, err
}

// leftOut warns of runs whose record cannot be read, of each once. Where what is exported is of cells, they are still in it.
func (p *program) leftOut(dir string, cells bool) func(*record.Run) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(r *record.Run) {
		mu.Lock()
		defer mu.Unlock()
		if !said[r.ID] {
			said[r.ID] = true
			but := ""
			if cells {
				but = "; figures and verdicts of its cell are those of results.json, which planrun report " + dir + " makes again"
			}
			fmt.Fprintf(p.err, "planrun: warning: what run %s itself says is left out%s: %s\n", r.ID, but, r.Reason)
		}
	}
}

// samplesLeftOut says what could not be read of what was sampled of a run. The rest is written, and the exit code says so.
func (p *program) samplesLeftOut(r *record.Run, why error) {
	p.exit = exitHarness
	for line := range strings.SplitSeq(why.Error(), "\n") { // a file each
		fmt.Fprintf(p.err, "planrun: warning: not all that was sampled of run %s could be read, and the rest is written: %s\n", r.ID, strings.TrimPrefix(line, "run "+r.ID+": "))
	}
}

// knownMetrics finds metrics, or windows of metrics, that the set does not have.
func knownMetrics(res *record.Results, metrics []string) error {
	known := slices.Sorted(maps.Keys(res.Descs))
	if len(known) == 0 && len(metrics) > 0 {
		return fmt.Errorf("--metric %s: the result set has no metrics: no run of it has results", metrics[0])
	}
	for _, m := range metrics {
		window, name := "", m
		if at := strings.LastIndexByte(m, '/'); at >= 0 {
			window, name = m[:at], m[at+1:]
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("--metric %s: the result set has no metric %q; %s", m, name, dsl.Suggest(name, known, "there are"))
		}
		if windows := windowsOf(res, name); window != "" && !slices.Contains(windows, window) {
			return fmt.Errorf("--metric %s: no cell has %s of a window %q; %s", m, name, window, dsl.Suggest(window, windows, "windows"))
		}
	}
	return nil
}

// windowsOf are the windows in which a cell has a metric, without the headline.
func windowsOf(res *record.Results, metric string) []string {
	found := map[string]bool{}
	for _, c := range res.Cells {
		for w, metrics := range c.Metrics {
			if _, has := metrics.Get(metric); has && w != "" {
				found[w] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
