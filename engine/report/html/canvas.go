package html

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A canvas draws SVG for gonum/plot. Colours are inks, which become classes: the page's style sheet gives them their
// colours, so that one drawing serves light, dark and print, and no style attribute is needed, which the page's content
// security policy would refuse. Text stays text. One point is one unit of the drawing.
type canvas struct {
	b     strings.Builder
	w, h  vg.Length
	now   state
	stack []state
}

type state struct {
	ink   ink
	width vg.Length
	dash  string
	m     matrix
}

// A matrix maps (x, y) to (a x + c y + e, b x + d y + f), y upwards.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) then(n matrix) matrix { // n is applied first
	return matrix{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b,
		m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

func newCanvas(w, h vg.Length) *canvas {
	c := &canvas{w: w, h: h}
	c.now = state{ink: text, width: 1, m: matrix{a: 1, d: 1}}
	return c
}

// svg is the whole drawing; title is what is said of it to those who do not see it, "" if it is only ornament.
func (c *canvas) svg(title string) string {
	role := ` aria-hidden="true"`
	if title != "" {
		role, title = ` role="img"`, "<title>"+escaped(title)+"</title>"
	}
	w, h := num(float64(c.w)), num(float64(c.h))
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %s %s" width="%s" height="%s">%s%s</svg>`, role, w, h, w, h, title, c.b.String())
}

// Size and the methods below are those of vg.CanvasSizer.
func (c *canvas) Size() (w, h vg.Length)   { return c.w, c.h }
func (c *canvas) SetLineWidth(w vg.Length) { c.now.width = w }
func (c *canvas) Rotate(rad float64) {
	s, k := math.Sincos(rad)
	c.transform(matrix{k, s, -s, k, 0, 0})
}
func (c *canvas) Translate(p vg.Point)                { c.transform(matrix{1, 0, 0, 1, float64(p.X), float64(p.Y)}) }
func (c *canvas) Scale(x, y float64)                  { c.transform(matrix{a: x, d: y}) }
func (c *canvas) Push()                               { c.stack = append(c.stack, c.now) }
func (c *canvas) transform(m matrix)                  { c.now.m = c.now.m.then(m) }
func (c *canvas) DrawImage(vg.Rectangle, image.Image) {} // no chart has one

func (c *canvas) Pop() {
	c.now = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *canvas) SetColor(col color.Color) {
	c.now.ink = text
	if k, ok := col.(ink); ok {
		c.now.ink = k
	}
}

func (c *canvas) SetLineDash(pattern []vg.Length, _ vg.Length) {
	parts := make([]string, len(pattern))
	for i, l := range pattern {
		parts[i] = num(float64(l))
	}
	c.now.dash = strings.Join(parts, " ")
}

func (c *canvas) Stroke(p vg.Path) {
	if c.now.width <= 0 || len(p) == 0 {
		return
	}
	dash := ""
	if c.now.dash != "" {
		dash = ` stroke-dasharray="` + c.now.dash + `"`
	}
	fmt.Fprintf(&c.b, `<path class="s %s" stroke-width="%s"%s d="%s"/>`, c.now.ink.class("s"), num(float64(c.now.width)), dash, c.path(p))
}

func (c *canvas) Fill(p vg.Path) {
	if len(p) > 0 {
		fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, c.now.ink.class("f"), c.path(p))
	}
}

func (c *canvas) FillString(f font.Face, pt vg.Point, s string) {
	if f.Font.Size == 0 || s == "" {
		return
	}
	x, y := c.at(pt)
	turn := ""
	if m := c.now.m; m.b != 0 || m.c != 0 {
		turn = fmt.Sprintf(` transform="rotate(%s %s %s)"`, num(-math.Atan2(m.b, m.a)*180/math.Pi), num(x), num(y))
	}
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" font-size="%s"%s%s>%s</text>`, c.now.ink.class("f"), num(x), num(y), num(float64(f.Font.Size)), length(f, s), turn, escaped(s))
}

// length makes text as wide as it was measured, whatever font the reader has. It is left out where the measuring font may
// lack letters.
func length(f font.Face, s string) string {
	if len(s) < 2 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > 'ÿ' && r != '…' }) {
		return ""
	}
	return ` lengthAdjust="spacingAndGlyphs" textLength="` + num(float64(f.Width(s))) + `"`
}

// at is where a point is in the drawing, whose y goes downwards.
func (c *canvas) at(p vg.Point) (x, y float64) {
	m := c.now.m
	px, py := float64(p.X), float64(p.Y)
	return m.a*px + m.c*py + m.e, float64(c.h) - (m.b*px + m.d*py + m.f)
}

func (c *canvas) path(p vg.Path) string {
	var b strings.Builder
	put := func(op string, pts ...vg.Point) {
		b.WriteString(op)
		for i, pt := range pts {
			x, y := c.at(pt)
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(num(x) + " " + num(y))
		}
	}
	for _, s := range p {
		switch s.Type {
		case vg.MoveComp:
			put("M", s.Pos)
		case vg.LineComp:
			put("L", s.Pos)
		case vg.ArcComp:
			c.arc(put, s)
		case vg.CurveComp:
			put([]string{"L", "Q", "C"}[min(len(s.Control), 2)], append(s.Control[:min(len(s.Control), 2):2], s.Pos)...)
		case vg.CloseComp:
			b.WriteByte('Z')
		}
	}
	return b.String()
}

// arc is a polygon: the glyphs that use it are some points wide.
func (c *canvas) arc(put func(string, ...vg.Point), s vg.PathComp) {
	const parts = 16
	for i := range parts + 1 {
		sin, cos := math.Sincos(s.Start + s.Angle*float64(i)/parts)
		put("L", vg.Point{X: s.Pos.X + s.Radius*vg.Length(cos), Y: s.Pos.Y + s.Radius*vg.Length(sin)})
	}
}

// num prints a coordinate with one decimal.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64)
}

// escaped is text in SVG.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder cannot fail
	return b.String()
}

func linePath(x0, y0, x1, y1 vg.Length) (p vg.Path) {
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	return p
}
