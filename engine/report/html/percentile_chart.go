package html

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"github.com/planrun/planrun/engine/report"
)

// percentileChart draws latencies over 1/(1-share), both axes logarithmic, so that 90 %, 99 % and 99.9 % are equally far
// apart and a tail is seen.
func percentileChart(ps report.Percentiles) string {
	cv := newCanvas(wide, 260)
	p := newPlot()
	lo, hi, most := math.Inf(1), 0.0, 1.0
	var labels ends
	for _, d := range ps.Lines {
		var run [][2]float64
		x := 0.0
		for _, pt := range d.Points {
			if !(pt.Ms > 0) {
				continue
			}
			// The maximum stands where the last of so many requests does.
			if x = math.Log10(float64(d.Count)); pt.Share < 1 {
				x = -math.Log10(1 - pt.Share)
			}
			run = append(run, [2]float64{x, pt.Ms})
			lo, hi, most = min(lo, pt.Ms), max(hi, pt.Ms), max(most, x)
		}
		if len(run) > 0 {
			addLine(p, d.Key, [][][2]float64{run}, false)
			labels = append(labels, endLabel{cut(d.Name, 18), d.Key, run[len(run)-1][1]})
		}
	}
	p.Add(labels, caption{"latency", "ms, by the share of requests that were not slower"})
	p.X.Min, p.X.Max = 0, most
	p.X.Tick.Marker = nines{}
	if math.IsInf(lo, 0) {
		lo, hi = 1, 10
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powers{}
	p.Y.Min, p.Y.Max = lo/1.15, hi*1.15
	p.Draw(draw.Crop(draw.New(cv), 4, -6, 2, -2))
	return cv.svg("latency by percentile")
}

// nines are the ticks of an axis of -log10(1-share).
type nines struct{}

func (nines) Ticks(lo, hi float64) (out []plot.Tick) {
	for _, share := range []float64{0, 50, 75} {
		if x := -math.Log10(1 - share/100); x >= lo && x <= hi {
			out = append(out, plot.Tick{Value: x, Label: strconv.FormatFloat(share, 'f', -1, 64) + " %"})
		}
	}
	for n := 1; float64(n) <= hi; n++ {
		label := "90 %"
		if n > 1 {
			label = strconv.FormatFloat(100-math.Pow(10, float64(2-n)), 'f', max(0, n-2), 64) + " %"
		}
		out = append(out, plot.Tick{Value: float64(n), Label: label})
	}
	return out
}
