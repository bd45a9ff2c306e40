package html

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ends are the names of lines, at their right ends; those that would lie on each other are moved apart.
type ends []endLabel

type endLabel struct {
	name string
	key  int
	y    float64
}

const endSize = 10

func (e ends) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	e = slices.Clone(e)
	slices.SortStableFunc(e, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	at := make([]vg.Length, len(e))
	next := c.Min.Y - endSize/2
	for i, l := range e {
		at[i] = max(y(l.y), next)
		next = at[i] + endSize + 1
	}
	top := c.Max.Y + endSize/2
	for i := len(e) - 1; i >= 0; i-- {
		at[i] = min(at[i], top)
		top = at[i] - endSize - 1
	}
	for i, l := range e {
		s := style(endSize, hue(l.key))
		s.YAlign = draw.YCenter
		c.FillText(s, vg.Point{X: c.Max.X + 6, Y: at[i]}, l.name)
	}
}

// GlyphBoxes keep the room to the right of the axes.
func (e ends) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	s := style(endSize, text)
	w := vg.Length(0)
	for _, l := range e {
		w = max(w, s.Width(l.name))
	}
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: w + 8}}}}
}
