package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unique"
)

// readRun reads a run.json. Nearly all of it is metrics: the same names in every run, so they share their memory.
func readRun(path string) (*Run, error) {
	v, err := readJSON[struct {
		Run
		Metrics figures `json:"metrics"` // instead of Run's
	}](path)
	if err != nil {
		return nil, err
	}
	r := &v.Run
	r.Metrics = v.Metrics
	for k, why := range r.Missing {
		delete(r.Missing, k)
		r.Missing[unique.Make(k).Value()] = unique.Make(why).Value()
	}
	return r, nil
}

// figures are Run.Metrics. They are decoded by themselves because it takes a fifth of the time and half of the memory.
type figures map[string]map[string]float64

// UnmarshalJSON decodes what was written by planrun; for anything else it asks package json.
func (f *figures) UnmarshalJSON(b []byte) error {
	s := figureScanner{b: b}
	if out, ok := s.windows(); ok {
		*f = out
		return nil
	}
	var out map[string]map[string]float64
	err := json.Unmarshal(b, &out)
	*f = out
	return err
}

// A figureScanner goes through valid JSON.
type figureScanner struct {
	b []byte
}

// next skips white space, and c if it comes next.
func (s *figureScanner) next(c byte) bool {
	for len(s.b) > 0 && (s.b[0] == ' ' || s.b[0] == '\n' || s.b[0] == '\t' || s.b[0] == '\r') {
		s.b = s.b[1:]
	}
	if len(s.b) == 0 || s.b[0] != c {
		return false
	}
	s.b = s.b[1:]
	return true
}

// key is a name and the colon behind it.
func (s *figureScanner) key() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	i := bytes.IndexByte(s.b, '"')
	if i < 0 || bytes.IndexByte(s.b[:i], '\\') >= 0 {
		return "", false
	}
	name := unique.Make(string(s.b[:i])).Value()
	s.b = s.b[i+1:]
	return name, s.next(':')
}

// members calls each for each member of an object, after its key.
func (s *figureScanner) members(each func(key string) bool) bool {
	if !s.next('{') {
		return false
	}
	if s.next('}') {
		return true
	}
	for {
		key, ok := s.key()
		if !ok || !each(key) {
			return false
		}
		if s.next('}') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

func (s *figureScanner) windows() (map[string]map[string]float64, bool) {
	out := map[string]map[string]float64{}
	ok := s.members(func(window string) bool {
		in := make(map[string]float64, bytes.Count(s.b[:max(0, bytes.IndexByte(s.b, '}'))], []byte(":")))
		out[window] = in
		return s.members(func(name string) bool {
			s.next(' ')
			n := bytes.IndexAny(s.b, ",}\n\r\t ")
			if n < 0 {
				return false
			}
			v, err := strconv.ParseFloat(string(s.b[:n]), 64)
			in[name], s.b = v, s.b[n:]
			return err == nil
		})
	})
	return out, ok
}
