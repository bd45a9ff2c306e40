package record

import (
	"bytes"

	"github.com/planrun/planrun/engine/series"
)

// decodePoint is what package json makes of a line that holds a sample, which nearly all lines do; ok is false of others.
func decodePoint(line []byte) (p series.Point, ok bool) {
	ok = scan(line, func(s *scanner) bool {
		whole := s.members(func(key string) (ok bool) {
			switch key {
			case "t":
				p.T, ok = s.number()
			case "s":
				p.Series, ok = s.text()
			case "o":
				p.Source, ok = s.text()
			case "r":
				p.Replica, ok = s.integer()
			case "role":
				p.Role, ok = s.text()
			case "l":
				p.Label, ok = s.text()
			case "v":
				p.V, ok = s.number()
			}
			return ok
		})
		s.space()
		return whole && len(s.b) == 0
	})
	return p, ok && p.Series != ""
}

// integer is a number without a fraction or an exponent.
func (s *scanner) integer() (int, bool) {
	s.space()
	text := s.b
	v, ok := s.number()
	return int(v), ok && v == float64(int32(v)) && !bytes.ContainsAny(text[:len(text)-len(s.b)], ".eE")
}
