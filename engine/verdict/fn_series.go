package verdict

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/planrun/planrun/engine/stats"
)

// The methods of series are native, over columns: a macro over 100,000 samples takes 20 to 100 ms.
var seriesFunctions = []function{
	{Doc{"after", "series", "series.after(seconds)", "The samples from a time on; times count from the begin of the phase, or of the run.", window + `.after(30).size()`, "30"},
		onSeries("after", seriesT, func(s *Series, at float64) ref.Val { return seriesObject(s.between(at, s.until())) })},
	{Doc{"before", "series", "series.before(seconds)", "The samples up to a time.", window + `.before(9).size()`, "9"},
		onSeries("before", seriesT, func(s *Series, at float64) ref.Val { return seriesObject(s.between(s.from(), at)) })},
	{Doc{"size", "series", "series.size()", "The number of samples.", window + `.size()`, "60"},
		ofSeries("size", 0, num, func(s *Series) ref.Val { return types.Double(len(s.V)) })},
	{Doc{"seconds", "series", "series.seconds()", "The time from the first to the last sample.", window + `.seconds()`, "59"},
		ofSeries("seconds", 0, num, func(s *Series) ref.Val { return types.Double(s.until() - s.from()) })},
	{Doc{"mean", "series", "series.mean()", "The mean of the samples.", window + `.mean() > 150`, "true"}, numberOf("mean", stats.Mean)},
	{Doc{"median", "series", "series.median()", "The median of the samples.", window + `.median() > 150`, "true"}, numberOf("median", stats.Median)},
	{Doc{"min", "series", "series.min()", "The smallest sample.", window + `.min()`, "100"}, numberOf("min", slices.Min[[]float64])},
	{Doc{"max", "series", "series.max()", "The largest sample.", window + `.max()`, "219"}, numberOf("max", slices.Max[[]float64])},
	{Doc{"first", "series", "series.first()", "The first sample.", window + `.first()`, "100"}, numberOf("first", func(v []float64) float64 { return v[0] })},
	{Doc{"last", "series", "series.last()", "The last sample.", window + `.last()`, "219"}, numberOf("last", func(v []float64) float64 { return v[len(v)-1] })},
	{Doc{"fit", "series", "series.fit()", "The least-squares line: .slope a second, .rise from the first to the last sample, .r2 (how much of the variance it explains).", window + `.fit().r2 > 0.9`, "true"},
		ofSeries("fit", 3, fitT, fit)},
	{Doc{"climbs", "series", "series.climbs()", "Whether it goes up: the Mann-Kendall test over the medians of 60 spans of time says so with p < 0.01, rising pairs outnumber falling ones by half of all (tau >= 0.5), and the Theil-Sen line rises by more than 5 % of the median. Undefined below 10 samples.",
		window + `.climbs()`, "true"}, ofSeries("climbs", stats.TrendLeast, boolean, climbs)},
}

// window is the series of the examples.
const window = `scenario("slowloris").phase("attack").series("sut_rss_mib")`

func (d *Series) from() float64 {
	if len(d.T) == 0 {
		return 0
	}
	return d.T[0]
}

func (d *Series) until() float64 {
	if len(d.T) == 0 {
		return 0
	}
	return d.T[len(d.T)-1]
}

// ofSeries declares series.NAME(); fewer than least samples are undefined.
func ofSeries(name string, least int, ret *cel.Type, f func(*Series) ref.Val) []cel.EnvOption {
	return []cel.EnvOption{method(name, []*cel.Type{seriesT}, ret, func(v ...ref.Val) ref.Val {
		s := v[0].(*object).v.(*Series)
		if len(s.V) < least {
			return undefined("%s() of %s: %d samples; it needs %d", name, s.Name, len(s.V), least)
		}
		return f(s)
	})}
}

func numberOf(name string, f func([]float64) float64) []cel.EnvOption {
	return ofSeries(name, 1, num, func(s *Series) ref.Val { return finite(name+"() of "+s.Name, f(s.V)) })
}

func onSeries(name string, ret *cel.Type, f func(*Series, float64) ref.Val) []cel.EnvOption {
	return []cel.EnvOption{method(name, []*cel.Type{seriesT, num}, ret, func(v ...ref.Val) ref.Val {
		return f(v[0].(*object).v.(*Series), double(v[1]))
	})}
}

func fit(s *Series) ref.Val {
	l, ok := stats.Fit(s.T, s.V)
	if !ok {
		return undefined("fit() of %s: all samples have the same time", s.Name)
	}
	fields := map[string]float64{"slope": l.Slope, "rise": l.Rise, "r2": l.R2}
	return &object{fitT, func(f string) ref.Val { return finite("fit()."+f+" of "+s.Name, fields[f]) }, l}
}

func climbs(s *Series) ref.Val {
	t, ok := stats.TrendOf(s.T, s.V)
	if !ok {
		return undefined("climbs() of %s: %d spans with samples; it needs %d", s.Name, t.N, stats.TrendLeast)
	}
	return types.Bool(t.Climbs())
}
