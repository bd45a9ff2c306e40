package html

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/planrun/planrun/engine/report"
)

// What charts measure, in points.
const (
	wide      = 860
	panelHigh = 138
	stripHigh = 20 // of the phases' names above the panels
	marksHigh = 20 // of the numbers of marks below them, if there are any
)

// timeChart draws panels over one time, phases shaded and named above them, marks numbered.
func timeChart(c report.Chart) string {
	n := len(c.Panels)
	above := vg.Length(stripHigh)
	if len(c.Marks) > 0 {
		above += marksHigh
	}
	cv := newCanvas(wide, vg.Length(n*panelHigh)+above+4)
	dc := draw.New(cv)
	plots := make([][]*plot.Plot, n)
	for i, p := range c.Panels {
		plots[i] = []*plot.Plot{panel(c, p, i == n-1)}
	}
	canvases := plot.Align(plots, draw.Tiles{Rows: n, Cols: 1, PadY: 6}, draw.Crop(dc, 4, -6, 2, -above))
	for i := range plots {
		plots[i][0].Draw(canvases[i][0])
	}
	first := plots[0][0]
	strip(dc, first.DataCanvas(canvases[0][0]), first, c)
	var names []string
	for _, p := range c.Panels {
		names = append(names, p.Title)
	}
	return cv.svg(cut(strings.Join(names, ", ")+" over time", 200))
}

// panel is the plot of one panel; only the last one has numbers on its time axis.
func panel(c report.Chart, p report.Panel, last bool) *plot.Plot {
	pl := newPlot()
	pl.Add(shades{c.Phases}, marks{c.Marks}, caption{p.Title, p.Unit})
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range p.Lines {
		for _, v := range l.Values {
			if v != nil {
				lo, hi = min(lo, *v), max(hi, *v)
			}
		}
	}
	for _, l := range p.Lines {
		addLine(pl, l.Key, thin(l.Values, mostPoints), len(l.Values) <= 40)
	}
	var ends ends
	for _, l := range p.Lines {
		if v := lastOf(l.Values); v != nil {
			ends = append(ends, endLabel{cut(l.Name, 18), l.Key, *v})
		}
	}
	pl.Add(ends)
	pl.X.Min, pl.X.Max = 0, float64(c.Seconds)
	pl.X.Tick.Marker = clock{}
	if !last {
		pl.X.Tick.Marker = plot.ConstantTicks(nil)
	}
	scaleY(pl, lo, hi)
	return pl
}

// scaleY spans the values from 0 on, or by their logarithm if they are orders of magnitude apart.
func scaleY(pl *plot.Plot, lo, hi float64) {
	pl.Y.Tick.Marker = numbers{}
	pl.Y.Min, pl.Y.Max = 0, hi*1.06
	switch {
	case lo > 0 && hi/lo > 80:
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, powers{}
		pl.Y.Min, pl.Y.Max = lo/1.2, hi*1.2
	case !(hi > 0):
		pl.Y.Min, pl.Y.Max = min(lo, 0), 1
		pl.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 1, Label: "1"}}
		if lo < 0 {
			pl.Y.Max, pl.Y.Tick.Marker = 0, numbers{}
		}
	}
	if math.IsInf(pl.Y.Min, 0) || math.IsInf(pl.Y.Max, 0) {
		pl.Y.Min, pl.Y.Max = 0, 1
	}
}

// addLine adds a line, with dots where its points are few or stand alone.
func addLine(pl *plot.Plot, key int, runs [][][2]float64, dots bool) {
	for _, run := range runs {
		xy := make(plotter.XYs, len(run))
		for i, p := range run {
			xy[i] = plotter.XY{X: p[0], Y: p[1]}
		}
		pl.Add(&plotter.Line{XYs: xy, LineStyle: lineStyle(key)})
		if dots || len(run) == 1 {
			pl.Add(&plotter.Scatter{XYs: xy, GlyphStyle: glyphOf(key)})
		}
	}
}

func lastOf(values []*float64) *float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i] != nil {
			return values[i]
		}
	}
	return nil
}

// shades are the phases behind a panel.
type shades struct{ phases []report.Stretch }

func (s shades) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, ph := range s.phases {
		from, to := clamp(x(ph.From), c), clamp(x(ph.To), c)
		c.FillPolygon(phaseInk(ph.Kind), rectangle(from, c.Min.Y, to, c.Max.Y))
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.7}, from, c.Min.Y, from, c.Max.Y)
	}
}

func clamp(x vg.Length, c draw.Canvas) vg.Length { return max(c.Min.X, min(x, c.Max.X)) }

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// marks are lines at the moments at which something happened.
type marks struct{ marks []report.Mark }

func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, mk := range m.marks {
		width := vg.Length(1)
		if len(mk.At) > 3 {
			width = 0.5
		}
		for _, t := range mk.At[:min(len(mk.At), 100)] {
			if at := x(t); at >= c.Min.X && at <= c.Max.X {
				c.StrokeLine2(draw.LineStyle{Color: mark, Width: width, Dashes: []vg.Length{3, 2}}, at, c.Min.Y, at, c.Max.Y)
			}
		}
	}
}

// strip names the phases above the panels, and numbers the marks.
func strip(dc, data draw.Canvas, p *plot.Plot, c report.Chart) {
	x, _ := p.Transforms(&data)
	top := dc.Max.Y - 2
	label := style(10, text)
	label.XAlign, label.YAlign = draw.XCenter, draw.YCenter
	for _, ph := range c.Phases {
		from, to := clamp(x(ph.From), data), clamp(x(ph.To), data)
		dc.FillPolygon(phaseInk(ph.Kind), rectangle(from, top-16, to, top))
		room := int((to - from - 4) / 5.2)
		if room >= 3 {
			dc.FillText(label, vg.Point{X: (from + to) / 2, Y: top - 8}, cut(ph.Name, room))
		}
	}
	number := style(9, page)
	number.XAlign, number.YAlign = draw.XCenter, draw.YCenter
	next := data.Min.X
	for i, m := range c.Marks {
		at := x(m.At[0])
		if at > data.Max.X+1 {
			continue
		}
		at = max(at, next)
		next = at + 15
		pt := vg.Point{X: at, Y: top - 26}
		dc.DrawGlyphNoClip(draw.GlyphStyle{Color: mark, Radius: 7, Shape: draw.CircleGlyph{}}, pt)
		dc.FillText(number, pt, strconv.Itoa(i+1))
	}
}

// caption is the title of a panel, above its y axis.
type caption struct{ title, unit string }

const captionHigh = 18

func (t caption) Plot(c draw.Canvas, _ *plot.Plot) {
	at := vg.Point{X: c.Min.X, Y: c.Max.Y + 6}
	bold, title := style(11, text), cut(t.title, 70)
	c.FillText(bold, at, title)
	if t.unit != "" {
		at.X += bold.Width(title) + 7
		c.FillText(style(10, soft), at, cut(t.unit, 80))
	}
}

func (caption) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: captionHigh}}}}
}
