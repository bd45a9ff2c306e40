package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/internal/plural"
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
	ratios := res.of(func(r round) float64 { return r.side(false).cost() / r.side(true).cost() })
	whole := res.of(func(r round) float64 { return r.side(false).wholeCost() / r.side(true).wholeCost() })
	rates := func(theirs bool) string {
		return thousands(mid(res.of(func(r round) float64 { return r.side(theirs).rate() })))
	}
	ratio := mid(ratios)
	line, v := target(fmt.Sprintf("%s ratio %.3f", name, ratio), ratio, r.must, r.moon, "%.2f", moonshot)
	line += fmt.Sprintf("  (%s %.3f to %.3f, with the starts %.3f; %s/s to %s/s; %s)", plural.Of(len(ratios), "round"), slices.Min(ratios), slices.Max(ratios),
		mid(whole), rates(false), rates(true), res.circumstances())
	return []string{line}, v
}

func (res result) lagLines(name string, moonshot bool) (lines []string, all verdict) {
	us := func(ns float64) float64 { return ns / float64(time.Microsecond) }
	for i, quantile := range []string{"p50", "p90"} {
		lags := res.of(func(r round) float64 { return us([]float64{r.runs[0].LagP50, r.runs[0].LagP90}[i]) })
		lag := mid(lags)
		line, v := target(fmt.Sprintf("%s %s %.1f us", name, quantile, lag), lag, us(float64(res.row.lagMust[i])), us(float64(res.row.lagMoon[i])), "%.0f us", moonshot)
		line += fmt.Sprintf("  (%s %.1f to %.1f; %s)", plural.Of(len(lags), "round"), slices.Min(lags), slices.Max(lags), res.circumstances())
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

// circumstances are the worker's wire, what the machine did in the rounds that count, and in those that were measured again
// for it.
func (res result) circumstances() string {
	var words []string
	disturbed := 0
	for _, r := range res.counted(true) {
		if r.disturbed {
			disturbed++
		}
		for _, x := range r.runs {
			if x.Wire != "" && !slices.Contains(words, x.Wire) {
				words = append(words, x.Wire)
			}
		}
	}
	text := strings.Join(append(words, unrest(res.counted(true))), ", ")
	if again := res.counted(false); len(again) > 0 {
		text += fmt.Sprintf("; %s measured again: %s", plural.Of(len(again), "round"), unrest(again))
	}
	if disturbed > 0 {
		text += fmt.Sprintf("; %s disturbed all the same", plural.Of(disturbed, "round"))
	}
	return text
}

// unrest is the most that the machine did in some rounds.
func unrest(rounds []round) string {
	foreign, moved := 0.0, 1.0
	for _, r := range rounds {
		foreign, moved = max(foreign, r.foreign()), max(moved, r.moved())
	}
	return fmt.Sprintf("others had up to %.0f %% of the client's CPU, the host's speed moved up to %.2f times", 100*foreign, moved)
}

// write writes every run as a line of JSON.
func (res result) write(to io.Writer) error {
	for _, r := range res.rounds {
		for _, x := range r.runs {
			x.Discarded = r.discarded
			if err := json.NewEncoder(to).Encode(x); err != nil {
				return err
			}
		}
	}
	return nil
}

func thousands(x float64) string {
	if x < 10000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1fk", x/1000)
}
