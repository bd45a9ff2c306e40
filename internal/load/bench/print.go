package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What a row amounts to.
type verdict int

const (
	met     verdict = iota // or without a target
	missed                 // above its target
	absent                 // not run
	invalid                // the measurement went wrong
)

// lines are what is printed of a row, and what it amounts to.
func (res result) lines(moonshot bool) ([]string, verdict) {
	r := res.row
	name := "bench " + r.name + " " + r.peer
	if r.peer == "" {
		name = "bench " + r.name + " -"
	}
	switch {
	case res.absent != nil:
		return []string{fmt.Sprintf("%s not run: %v", name, res.absent)}, absent
	case res.failed != nil:
		return []string{fmt.Sprintf("%s failed: %v", name, res.failed)}, invalid
	case r.peer == "":
		return res.lagLines(name, moonshot)
	}
	ratio := mid(res.ratios)
	line, v := target(fmt.Sprintf("%s ratio %.3f", name, ratio), ratio, r.must, r.moon, "%.2f", moonshot)
	line += fmt.Sprintf("  (%d rounds %.3f to %.3f, with the starts %.3f; %s/s to %s/s; %s)", len(res.ratios), slices.Min(res.ratios), slices.Max(res.ratios),
		mid(res.whole), thousands(res.rates(false)), thousands(res.rates(true)), res.circumstances())
	return []string{line}, v
}

func (res result) lagLines(name string, moonshot bool) (lines []string, all verdict) {
	for i, quantile := range []string{"p50", "p90"} {
		us := func(ns float64) float64 { return ns / float64(time.Microsecond) }
		lag := us(mid(res.lags[i]))
		line, v := target(fmt.Sprintf("%s %s %.1f us", name, quantile, lag), lag, us(float64(res.row.lagMust[i])), us(float64(res.row.lagMoon[i])), "%.0f us", moonshot)
		line += fmt.Sprintf("  (%d rounds %.1f to %.1f; %s)", len(res.lags[i]), us(slices.Min(res.lags[i])), us(slices.Max(res.lags[i])), res.circumstances())
		lines, all = append(lines, line), max(all, v)
	}
	return lines, all
}

// target appends the targets to a line, with a mark if the value is above the one that binds.
func target(line string, value, must, moon float64, format string, moonshot bool) (string, verdict) {
	if must == 0 {
		return line + " target -", met
	}
	line += " target " + fmt.Sprintf(format, must)
	if moonshot {
		line += " moonshot " + fmt.Sprintf(format, moon)
	}
	if value > must {
		return line + " ABOVE", missed
	}
	return line, met
}

// rates is the median of a client's requests a second.
func (res result) rates(theirs bool) float64 {
	var all []float64
	for _, r := range res.runs {
		if r.Theirs == theirs {
			all = append(all, r.rate())
		}
	}
	return mid(all)
}

// circumstances are the worker's wire, and the largest share that others had of the client's CPU in a run.
func (res result) circumstances() string {
	var words []string
	foreign := 0.0
	for _, r := range res.runs {
		foreign = max(foreign, r.Foreign)
		if r.Wire != "" && !slices.Contains(words, r.Wire) {
			words = append(words, r.Wire)
		}
	}
	return strings.Join(append(words, fmt.Sprintf("others had up to %.0f %% of the client's CPU", 100*foreign)), ", ")
}

func thousands(x float64) string {
	if x < 10000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1fk", x/1000)
}
