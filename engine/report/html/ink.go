package html

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An ink is a colour by what it is for. The style sheet says what it looks like: .s-NAME strokes, .f-NAME fills.
type ink string

const (
	text ink = "text"
	soft ink = "soft" // axes' numbers, captions
	grid ink = "grid"
	mark ink = "mark"
	page ink = "page" // the background
)

// RGBA is never looked at: only a canvas draws with inks.
func (ink) RGBA() (r, g, b, a uint32) { return color.Black.RGBA() }

func (k ink) class(of string) string { return of + "-" + string(k) }

// hues is how many colours there are for what is compared.
const hues = 8

// hue is the colour of a key; keys far apart share one, and then differ in dashes and shape.
func hue(key int) ink { return ink("c" + strconv.Itoa(key%hues)) }

// phaseInk shades a phase by its kind.
func phaseInk(kind string) ink {
	switch kind {
	case "install", "warm-up", "churn", "fault", "measure":
		return ink("ph-" + kind)
	}
	return "ph-load"
}

// dashes tell lines apart without colour; the first is solid.
var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 4}, {9, 3, 2, 3, 2, 3}, {1.5, 4}, {5, 5}}

func dashOf(key int) []vg.Length { return dashes[key%len(dashes)] }

func lineStyle(key int) draw.LineStyle {
	return draw.LineStyle{Color: hue(key), Width: 1.8, Dashes: dashOf(key)}
}

// shapes tell points apart without colour.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}

func glyphOf(key int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: hue(key), Radius: 2.4, Shape: shapes[key%len(shapes)]}
}
