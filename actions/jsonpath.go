package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

// parsePath reads a path in a JSON document: names with dots between them, and [N] for the elements of lists, from 0. "." is
// the whole document. A leading "." or "$." means nothing.
func parsePath(path string) ([]any, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	if path == "" {
		return nil, errors.New("an empty path; . is the whole output")
	}
	var out []any
	for rest != "" {
		if index, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && rest[0] == '[' {
			n, err := strconv.Atoi(index)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("path %q: [%s] is no place in a list", path, index)
			}
			out, rest = append(out, n), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("path %q: a name is missing", path)
		}
		out = append(out, rest[:end])
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	return out, nil
}

// lookUp follows a path.
func lookUp(doc any, path []any) (any, error) {
	at := "."
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, ok := doc.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s is no object", at)
			}
			if doc, ok = m[s]; !ok {
				return nil, fmt.Errorf("%s has no %q", at, s)
			}
			at = strings.TrimSuffix(at, ".") + "." + s
		case int:
			l, ok := doc.([]any)
			if !ok {
				return nil, fmt.Errorf("%s is no list", at)
			}
			if s >= len(l) {
				return nil, fmt.Errorf("%s has %d elements, none at [%d]", at, len(l), s)
			}
			doc = l[s]
			at += "[" + strconv.Itoa(s) + "]"
		}
	}
	return doc, nil
}

// setValues sets values from a JSON document.
func setValues(env *task.Env, set dsl.Map[string], doc []byte) error {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("set: the output is not JSON: %w", err)
	}
	for _, e := range set {
		path, err := parsePath(e.Val)
		if err != nil {
			return fmt.Errorf("set: %s: %w", e.Name, err)
		}
		found, err := lookUp(v, path)
		if err != nil {
			return fmt.Errorf("set: %s: %w", e.Name, err)
		}
		if n, ok := found.(float64); found == nil || ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
			return fmt.Errorf("set: %s: %s is %v, which is no value", e.Name, e.Val, found)
		}
		env.Value(e.Name, found)
	}
	return nil
}
