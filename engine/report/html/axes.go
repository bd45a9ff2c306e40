package html

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	gtext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style is text of a size in an ink. The page's text has the metrics of Liberation Sans wherever there is Arial.
func style(size vg.Length, k ink) gtext.Style {
	return gtext.Style{Color: k, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

// newPlot is a plot without ornament: a grid, numbers, no box.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle.Width = 0
		a.Tick.Length = 4
		a.Tick.LineStyle.Width = 0
		a.Tick.Label.Color = soft
		a.Tick.Label.Font = style(10, soft).Font
	}
	p.Add(gridLines{})
	return p
}

// gridLines are thin lines at the numbers of the y axis.
type gridLines struct{}

func (gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Label != "" {
			c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.7}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}

// numbers are the ticks of an axis from 0 on.
type numbers struct{}

func (numbers) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: short(lo)}}
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, k := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*k) <= 5 {
			step *= k
			break
		}
	}
	var out []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
		out = append(out, plot.Tick{Value: i * step, Label: short(i * step)})
	}
	return out
}

// powers are the ticks of a logarithmic axis: each power of ten, and 2 and 5 times it where there are few.
type powers struct{}

func (powers) Ticks(lo, hi float64) (out []plot.Tick) {
	if !(lo > 0 && hi > lo) {
		return []plot.Tick{{Value: lo, Label: short(lo)}}
	}
	of := []float64{1}
	if math.Log10(hi/lo) < 2.5 {
		of = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, k := range of {
			if v := k * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				out = append(out, plot.Tick{Value: v, Label: short(v)})
			}
		}
	}
	return out
}

// clock are the ticks of a time axis in seconds.
type clock struct{}

func (clock) Ticks(lo, hi float64) (out []plot.Tick) {
	step := 86400.0
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600} {
		if (hi-lo)/s <= 10 {
			step = s
			break
		}
	}
	for t := math.Ceil(lo/step) * step; t <= hi; t += step {
		out = append(out, plot.Tick{Value: t, Label: clockText(t)})
	}
	return out
}

func clockText(s float64) string {
	n := int(math.Round(s))
	switch {
	case n < 120:
		return strconv.Itoa(n) + " s"
	case n < 7200:
		return strconv.Itoa(n/60) + ":" + strconv.Itoa(100 + n%60)[1:]
	}
	return strconv.Itoa(n/3600) + ":" + strconv.Itoa(100 + n/60%60)[1:] + ":" + strconv.Itoa(100 + n%60)[1:]
}

// short prints a number of an axis: 0.05, 12, 25k, 1.5M.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e6:
		return trimmed(v/1e6) + "M"
	case a >= 1e4:
		return trimmed(v/1e3) + "k"
	}
	return trimmed(v)
}

func trimmed(v float64) string { return strconv.FormatFloat(v+0, 'g', 4, 64) } // +0: no minus before 0

// cut shortens a name to n runes: a picture has no room for more, the legend beside it has.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
