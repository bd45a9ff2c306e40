package report

import "math"

// distributions are the latencies of what was read of units.
func (b *builder) distributions(units []unit, seen []watched) (p Percentiles) {
	names, keys := b.lineNames(units)
	for i := range units {
		h := &seen[i].latency
		n := h.Count()
		if n == 0 {
			continue
		}
		d := Distribution{Name: names[i], Key: keys[i], Count: n}
		for _, share := range shareSteps(n) {
			d.Points = append(d.Points, Percentile{share, h.Quantile(share) / 1e6})
		}
		d.Points = append(d.Points, Percentile{1, float64(h.Max()) / 1e6})
		p.Lines = append(p.Lines, d)
	}
	return p
}

// shareSteps are the shares those of which n values tell something, evenly by -log10(1-share): 0, 0.11, ... 0.9, ... 0.99, up to 1-1/n.
func shareSteps(n int64) (out []float64) {
	const perDecade = 20
	for i := 0; ; i++ {
		rest := math.Pow(10, -float64(i)/perDecade)
		if rest*float64(n) < 1 {
			return out
		}
		out = append(out, 1-rest)
	}
}
