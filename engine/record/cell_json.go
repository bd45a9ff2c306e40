package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// encodeCell is what json.Marshal gives. Nearly all of a cell is metrics, which are encoded by themselves because that takes
// a part of the time.
func encodeCell(c *Cell) ([]byte, error) {
	if c.Metrics == nil {
		return json.Marshal(c)
	}
	head := *c
	head.Metrics = map[string]map[string]Value{}
	text, err := json.Marshal(&head)
	if err != nil {
		return nil, err
	}
	before, after, _ := bytes.Cut(text, []byte(`"metrics":{}`)) // within a text the quotes would be escaped
	size := len(text)
	for _, metrics := range c.Metrics {
		for name, v := range metrics {
			size += len(name) + 20*(len(v.Runs)+2) + len(v.Tainted)
		}
	}
	e := encoder{b: append(make([]byte, 0, size), before...)}
	e.text(`"metrics":`)
	e.metrics(c.Metrics)
	if e.err != nil {
		return nil, e.err
	}
	return append(e.b, after...), nil
}

// An encoder appends JSON, as package json writes it. Its first error stays.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) text(s string) { e.b = append(e.b, s...) }

// any encodes what is rare.
func (e *encoder) any(v any) {
	b, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.b = append(e.b, b...)
}

// string encodes a text; what package json may escape is left to it.
func (e *encoder) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			e.any(s)
			return
		}
	}
	e.b = append(append(append(e.b, '"'), s...), '"')
}

// number encodes a number; of very large and very small ones, and those that JSON does not have, package json knows.
func (e *encoder) number(v float64) {
	if abs := math.Abs(v); abs != 0 && abs < 1e-6 || !(abs < 1e21) {
		e.any(v)
		return
	}
	e.b = strconv.AppendFloat(e.b, v, 'f', -1, 64)
}

func (e *encoder) metrics(m map[string]map[string]Value) {
	members(e, m, func(metrics map[string]Value) {
		if metrics == nil {
			e.text("null")
			return
		}
		members(e, metrics, e.value)
	})
}

// members encodes an object, its keys in order.
func members[V any](e *encoder, m map[string]V, encode func(V)) {
	e.text("{")
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			e.text(",")
		}
		e.string(key)
		e.text(":")
		encode(m[key])
	}
	e.text("}")
}

func (e *encoder) value(v Value) {
	if v.Runs == nil || len(v.Whole) > 0 {
		e.any(v)
		return
	}
	e.text(`{"value":`)
	e.number(v.Value)
	e.text(`,"runs":[`)
	for i, x := range v.Runs {
		if i > 0 {
			e.text(",")
		}
		e.number(x)
	}
	e.text("]")
	if v.Tainted != "" {
		e.text(`,"tainted":`)
		e.string(v.Tainted)
	}
	e.text("}")
}

// decodeCell is what json.Unmarshal gives.
func decodeCell(text []byte, c *Cell) error {
	var metrics map[string]map[string]Value
	rest, ok := apart(text, "metrics", func(s *scanner) (ok bool) {
		metrics, ok = s.values()
		return ok
	})
	if !ok {
		rest = text
	}
	err := json.Unmarshal(rest, c)
	if ok {
		c.Metrics = metrics
	}
	return err
}

// values are the metrics of a cell.
func (s *scanner) values() (map[string]map[string]Value, bool) {
	out := map[string]map[string]Value{}
	ok := s.members(func(window string) bool {
		in := make(map[string]Value, s.sizes[window])
		ok := s.members(func(name string) bool {
			v, ok := s.value()
			in[name] = v
			return ok
		})
		out[window], s.sizes[window] = in, len(in)
		return ok
	})
	return out, ok
}

func (s *scanner) value() (v Value, ok bool) {
	ok = s.members(func(key string) (ok bool) {
		switch key {
		case "value":
			v.Value, ok = s.number()
		case "runs":
			v.Runs, ok = s.numbers()
		case "tainted":
			v.Tainted, ok = s.text()
		}
		return ok
	})
	return v, ok
}
