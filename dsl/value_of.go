package dsl

import (
	"strconv"
	"strings"
	"time"
)

// valueOf makes a Value of what was written.
func valueOf(n *node) Value {
	if n == nil || n.kind == nullNode {
		return Value{}
	}
	v := Value{n: n, V: anyOf(n)}
	if n.kind == scalarNode {
		v.Written = n.text
	}
	return v
}

// anyOf is the value that expressions see.
func anyOf(n *node) any {
	switch n.kind {
	case listNode:
		out := make([]any, len(n.items))
		for i, it := range n.items {
			out[i] = anyOf(it)
		}
		return out
	case mapNode:
		out := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			if !f.val.gone {
				out[f.key.text] = anyOf(f.val)
			}
		}
		return out
	case nullNode:
		return nil
	}
	if len(n.holes) > 0 {
		return nil
	}
	if n.filled {
		return n.val
	}
	if n.quoted {
		return n.text
	}
	return ScalarValue(n.text)
}

// ScalarValue reads a text as a plain scalar of the plan: true, false, a number, a number with a unit in its base unit (5s
// is 5), else the text itself.
func ScalarValue(s string) any {
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "":
		return ""
	}
	if c := s[0]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' {
		return s
	}
	if f, err := parseNumber(s); err == nil {
		return f
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d.Seconds()
	}
	if strings.HasSuffix(s, "B") {
		if f, err := parseBytes(s); err == nil {
			return f
		}
	}
	if p, err := parsePercent(s); err == nil {
		return float64(p)
	}
	if b, err := parseByteRate(s); err == nil {
		return float64(b)
	}
	if strings.Contains(s, "/") {
		if r, err := parseRate(s); err == nil {
			return float64(r)
		}
	}
	return s
}
