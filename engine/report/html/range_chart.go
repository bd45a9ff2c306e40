package html

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/planrun/planrun/engine/report"
)

// What a picture of ranges measures, in points.
const (
	narrow = 420
	rowHig = 30 // of a bar with the name and numbers above it
)

// spread is the factor between the lowest and the highest value from which a bar of a common axis would not be seen.
const spread = 100

// rangeChart draws a bar for each value, from 0 (of values that are orders of magnitude apart by their logarithm, from a
// little below the lowest), and over its end a line from the lowest to the highest run.
func rangeChart(g report.RangeGroup) string {
	cv := newCanvas(narrow, vg.Length(len(g.Bars)*rowHig+24))
	p := newPlot()
	hi := g.High
	if !(hi > 0) || math.IsInf(hi, 0) {
		hi = 1
	}
	p.X.Min, p.X.Max = 0, hi*1.02
	p.X.Tick.Marker = numbers{}
	if logarithmic(g) {
		p.X.Min, p.X.Max = g.Low/2, hi*1.1
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers{}
	}
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = plot.ConstantTicks(nil)
	p.Add(bars(g.Bars))
	p.Draw(draw.Crop(draw.New(cv), 2, -2, 2, -2))
	return cv.svg(cut(g.Title+": "+g.Label, 200))
}

// logarithmic reports whether a group's axis is.
func logarithmic(g report.RangeGroup) bool {
	return g.Low > 0 && g.High/g.Low > spread && !math.IsInf(g.High, 0)
}

type bars []report.Bar

func (bs bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.7}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
	foot := x(p.X.Min)
	high := (c.Max.Y - c.Min.Y) / vg.Length(len(bs))
	for i, b := range bs {
		top := c.Max.Y - vg.Length(i)*high
		name, value := style(11, text), style(10, soft)
		value.XAlign = draw.XRight
		shown := b.Text
		if b.Why != "" {
			shown = b.Why
		}
		shown = cut(shown, 44)
		room := int((c.Max.X - c.Min.X - value.Width(shown) - 10) / 6)
		c.FillText(name, vg.Point{X: c.Min.X, Y: top - 12}, cut(b.Name, max(room, 4)))
		c.FillText(value, vg.Point{X: c.Max.X, Y: top - 12}, shown)
		if b.Why != "" {
			continue
		}
		mid := top - 21.5
		c.FillPolygon(hue(b.Key), rectangle(foot, top-27, max(x(b.Value), foot+1), top-16))
		if b.High > b.Low {
			line := draw.LineStyle{Color: text, Width: 1.4}
			c.StrokeLine2(line, x(b.Low), mid, x(b.High), mid)
			c.StrokeLine2(line, x(b.Low), mid-4, x(b.Low), mid+4)
			c.StrokeLine2(line, x(b.High), mid-4, x(b.High), mid+4)
		}
	}
}
