package diff

import (
	"github.com/planrun/planrun/engine/compare"
	"github.com/planrun/planrun/engine/stats"
)

// A Summary counts rows by what they say of B.
type Summary struct {
	Better      int `json:"better"`
	Worse       int `json:"worse"`
	Differs     int `json:"differs"` // beyond the noise, of a metric without a better direction
	WithinNoise int `json:"within_noise"`
	Unknown     int `json:"noise_unknown"`
	Untrusted   int `json:"not_to_be_trusted"`
	Equal       int `json:"equal"` // 0 on both sides
	NA          int `json:"na"`
	Appeared    int `json:"appeared"` // of Worse: none in A, some in B, of what is better low
}

func summarize(rows []Row) (s Summary) {
	for _, r := range rows {
		if r.Appeared() && r.Outcome() == compare.Worse {
			s.Appeared++
		}
		switch r.Outcome() {
		case compare.Better:
			s.Better++
		case compare.Worse:
			s.Worse++
		case compare.Differs:
			s.Differs++
		case compare.WithinNoise:
			s.WithinNoise++
		case compare.Unknown:
			s.Unknown++
		case compare.Untrusted:
			s.Untrusted++
		case compare.NA:
			s.NA++
		case Equal:
			s.Equal++
		}
	}
	return s
}

// A Mean is the geometric mean of a metric's ratios over the matched cells that have one.
type Mean struct {
	Metric  string  `json:"metric"`
	Ratio   float64 `json:"ratio"`
	Cells   int     `json:"cells"`
	LeftOut int     `json:"left_out,omitempty"` // matched cells without a ratio, with one of 0, or with one that is not to be trusted
}

func means(rows []Row, metrics []compare.Name) (out []Mean) {
	for _, m := range metrics {
		mean := Mean{Metric: m.Text}
		var ratios []float64
		for _, r := range rows {
			switch {
			case r.Name != m:
			case r.Ratio.NA != "" || r.Ratio.Value <= 0 || len(r.Tainted) > 0:
				mean.LeftOut++
			default:
				ratios = append(ratios, r.Ratio.Value)
			}
		}
		if mean.Cells = len(ratios); mean.Cells > 1 { // of one it is its ratio
			mean.Ratio = stats.Geomean(ratios)
			out = append(out, mean)
		}
	}
	return out
}
