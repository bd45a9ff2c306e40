package record

import "math"

// finite reports whether v can stand in a file.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// finiteMap is m without what is undefined: NaN and infinities, at any depth. A list loses its undefined elements.
func finiteMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if v, ok := finiteValue(v); ok {
			out[k] = v
		}
	}
	return out
}

func finiteValue(v any) (any, bool) {
	switch v := v.(type) {
	case float64:
		return v, finite(v)
	case float32:
		return v, finite(float64(v))
	case map[string]any:
		return finiteMap(v), true
	case map[string]float64:
		return finiteNumbers(v), true
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if e, ok := finiteValue(e); ok {
				out = append(out, e)
			}
		}
		return out, true
	case []float64:
		out := make([]float64, 0, len(v))
		for _, e := range v {
			if finite(e) {
				out = append(out, e)
			}
		}
		return out, true
	}
	return v, true
}

func finiteNumbers(m map[string]float64) map[string]float64 {
	if m == nil {
		return nil
	}
	out := make(map[string]float64, len(m))
	for k, v := range m {
		if finite(v) {
			out[k] = v
		}
	}
	return out
}

// finiteRun is a copy of r whose computed numbers are all defined.
func finiteRun(r *Run) *Run {
	c := *r
	c.Params, c.With, c.Values = finiteMap(r.Params), finiteMap(r.With), finiteMap(r.Values)
	if r.Metrics != nil {
		c.Metrics = make(Windows, len(r.Metrics))
		for w, m := range r.Metrics {
			c.Metrics[w] = WindowOf(finiteNumbers(m.Map()))
		}
	}
	if r.Published != nil {
		p := *r.Published
		p.Whole = make(map[string]map[string]float64, len(r.Published.Whole))
		for name, m := range r.Published.Whole {
			p.Whole[name] = finiteNumbers(m)
		}
		c.Published = &p
	}
	if r.Facts.Servers != nil {
		c.Facts.Servers = make(map[string]map[string]float64, len(r.Facts.Servers))
		for s, m := range r.Facts.Servers {
			c.Facts.Servers[s] = finiteNumbers(m)
		}
	}
	if !finite(c.Facts.ClockStep) {
		c.Facts.ClockStep = 0
	}
	return &c
}
