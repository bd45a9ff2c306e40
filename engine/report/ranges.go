package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/series"
)

// ranges are the bars of a metric, one for each unit; none if no unit has a value.
func (b *builder) ranges(units []unit, m compare.Name) (bars []Bar) {
	names, keys := b.lineNames(units)
	d := b.desc(m.Metric)
	some := false
	for i, u := range units {
		bar := Bar{Name: names[i], Key: keys[i]}
		v, ok := u.cell.Metrics[m.Window].Get(m.Metric)
		if !ok {
			bar.Why = "n/a"
			if !u.cell.Status.HasResults() {
				bar.Why = shortStatus(u.cell.Status)
			}
			bars = append(bars, bar)
			continue
		}
		some = true
		bar.Value, bar.Low, bar.High, bar.Doubtful = v.Value, v.Value, v.Value, v.Tainted != ""
		bar.Text = number(v.Value, d.Class)
		if len(v.Runs) > 1 && d.Across == series.Median {
			bar.Low, bar.High = slices.Min(v.Runs), slices.Max(v.Runs)
			bar.Text += fmt.Sprintf(" (%s to %s)", number(bar.Low, d.Class), number(bar.High, d.Class))
		}
		if bar.Doubtful {
			bar.Text += " ?"
		}
		bars = append(bars, bar)
	}
	if !some {
		return nil
	}
	return bars
}

// label says of an axis what it measures and which way is better.
func (b *builder) label(m compare.Name) string {
	switch b.desc(m.Metric).Better {
	case series.Higher:
		return b.header(m) + ", higher is better"
	case series.Lower:
		return b.header(m) + ", lower is better"
	}
	return b.header(m)
}

// share gives groups with the same key the same scale.
func share(groups []RangeGroup, keys []string) {
	for i := range groups {
		low, high := math.Inf(1), math.Inf(-1)
		for j, g := range groups {
			if keys[j] != keys[i] {
				continue
			}
			for _, bar := range g.Bars {
				if bar.Why == "" {
					low, high = min(low, bar.Low, bar.Value), max(high, bar.High, bar.Value)
				}
			}
		}
		if low <= high {
			groups[i].Low, groups[i].High = low, high
		}
	}
}
