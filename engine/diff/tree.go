package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// A change is one place in which two trees of plain data differ.
type change struct {
	path []string
	a, b any // nil where a side has nothing there
}

// changes lists them, keys in alphabetical order. Lists are aligned: what was inserted into one is one change.
func changes(a, b any) []change {
	r := &reporter{}
	cmp.Equal(a, b, cmp.Reporter(r))
	return r.found
}

// A reporter is told by cmp where it is and what it finds there.
type reporter struct {
	path  cmp.Path
	found []change
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }

func (r *reporter) PopStep() { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(res cmp.Result) {
	if res.Equal() {
		return
	}
	c := change{}
	for _, s := range r.path {
		switch s := s.(type) {
		case cmp.MapIndex:
			c.path = append(c.path, s.Key().String())
		case cmp.SliceIndex:
			c.path = append(c.path, label(s))
		}
	}
	a, b := r.path.Last().Values()
	c.a, c.b = plain(a), plain(b)
	r.found = append(r.found, c)
}

func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// label names an element of a list: a stage or verdict by its name, else by its place in A, or in B where A lacks it.
func label(s cmp.SliceIndex) string {
	a, b := s.Values()
	for _, v := range []any{plain(a), plain(b)} {
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		for _, key := range []string{"stage", "verdict", "table", "chart", "name"} {
			if name, ok := m[key].(string); ok {
				return name
			}
		}
	}
	i, j := s.SplitKeys()
	return fmt.Sprintf("[%d]", max(i, j)+1)
}

// dotted writes a path: scenarios.h1.phases[2].measure.for. Places in a list count from 1.
func dotted(path []string) string {
	return strings.ReplaceAll(strings.Join(path, "."), ".[", "[")
}

// shown is a value of a tree on one line, cut short.
func shown(v any) string {
	s, ok := v.(string)
	if !ok {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Sprint(v)
		}
		s = b.String()
	}
	s = joined(s)
	if r := []rune(s); len(r) > 100 {
		s = string(r[:97]) + "..."
	}
	if s == "" {
		return `""`
	}
	return s
}
