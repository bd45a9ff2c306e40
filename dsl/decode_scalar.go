package dsl

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// scalar reads one typed scalar.
func (d *decoder) scalar(n *node, v reflect.Value, f *field) *node {
	c := codecOf(v.Type())
	if n.kind == scalarNode && len(n.holes) > 0 {
		var ok bool
		if n, ok = d.filled(n, wantOf(c, f), f); !ok {
			return n
		}
	}
	if n.kind != scalarNode {
		p := d.errorf(n, "%s: want %s, have %s", f.name(), wantOf(c, f), n.describe())
		if p.Hint = "write one value"; n.kind == mapNode && c.json == "string" {
			p.Hint = "quote the text if it holds braces or \": \""
		}
		return n
	}
	val, err := readScalar(n, c, f)
	if err != nil {
		d.wrong(n, wantOf(c, f), f, err)
		return n
	}
	v.Set(reflect.ValueOf(val).Convert(v.Type()))
	if f.t != nil {
		d.tags(n, v, c, f)
	}
	return n
}

// wrong reports that a scalar is not what its field wants.
func (d *decoder) wrong(n *node, want string, f *field, err error) {
	if errors.Is(err, errKind) {
		short, _, _ := strings.Cut(want, " such as")
		d.errorf(n, "%s: %s is not %s", f.name(), n.describe(), short).Hint = "write " + want
		return
	}
	p := d.errorf(n, "%s: %v", f.name(), err)
	var h *hint
	if errors.As(err, &h) {
		p.Hint = h.do
	} else {
		p.Hint = "write " + want
	}
}

// wantOf says what a scalar field wants.
func wantOf(c *codec, f *field) string {
	if f.t == nil {
		return c.want
	}
	want := c.want
	if len(f.t.enum) > 0 {
		want = oneOf(f.t.enum)
	}
	for w := range f.t.words {
		want += " or " + w
	}
	return want
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// readScalar reads a scalar's text, or the number that filled it.
func readScalar(n *node, c *codec, f *field) (any, error) {
	if f.t != nil && !n.quoted {
		if word, ok := f.t.words[n.text]; ok {
			return c.parse(word)
		}
	}
	switch val := n.val.(type) {
	case float64:
		unitless := c.json == "integer" || c.json == "number"
		if c.number != nil && (unitless || n.from == nil || numberRE.MatchString(n.text)) {
			return c.number(val)
		}
	case bool:
		if c.json != "boolean" && c.want != "a text" {
			return nil, errKind
		}
	}
	if c.plain && n.quoted {
		if _, err := c.parse(n.text); err == nil {
			return nil, &hint{fmt.Sprintf("%s is not %s", n.describe(), c.want), "remove the quotes"}
		}
		return nil, errKind
	}
	if n.text == "" && c.want != "a text" {
		return nil, errKind
	}
	return c.parse(n.text)
}

// tags checks what the tags of a scalar's field say.
func (d *decoder) tags(n *node, v reflect.Value, c *codec, f *field) {
	t := f.t
	if len(t.enum) > 0 && !slices.Contains(t.enum, n.text) {
		p := d.errorf(n, "%s: %s is not %s", f.name(), n.describe(), oneOf(t.enum))
		p.Hint = "write " + oneOf(t.enum)
		if near := nearest(n.text, t.enum); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		if _, err := parseBool(n.text); slices.Contains(t.enum, "true") && err != nil {
			var h *hint
			if errors.As(err, &h) {
				p.Hint = h.do
			}
		}
		return
	}
	if (t.min != "" || t.max != "") && v.Kind() != reflect.String {
		d.limits(n, v, c, f)
	}
	if t.path && v.Kind() == reflect.String {
		src := n.src
		if n.from != nil {
			src = n.from
		}
		v.SetString(src.resolve(v.String()))
	}
	if t.ref != "" && v.Kind() == reflect.String && v.String() != "" {
		d.reference(n, t.ref, v.String(), f)
	}
}

// reference checks that a name exists.
func (d *decoder) reference(n *node, what, name string, f *field) {
	if known := d.l.names[what]; !slices.Contains(known, name) && !d.l.broken {
		d.errorf(n, "%s: no %s is called %q", f.name(), strings.TrimSuffix(what, "s"), name).Hint = Suggest(name, known, what)
	}
}

// limits checks the range of a number.
func (d *decoder) limits(n *node, v reflect.Value, c *codec, f *field) {
	out := func(limit string, wrong func(have, limit float64) bool) bool {
		if limit == "" {
			return false
		}
		l, err := c.parse(limit)
		if err != nil {
			panic(fmt.Sprintf("dsl: tag of %s: %v", f.path(), err))
		}
		have, ok := numeric(v)
		lim, _ := numeric(reflect.ValueOf(l))
		return ok && wrong(have, lim)
	}
	if f.t.words[n.text] != "" {
		return
	}
	switch {
	case out(f.t.min, func(have, limit float64) bool { return have < limit }):
		d.errorf(n, "%s: %s is below %s", f.name(), n.text, f.t.min).Hint = d.rangeHint(f)
	case out(f.t.max, func(have, limit float64) bool { return have > limit }):
		d.errorf(n, "%s: %s is above %s", f.name(), n.text, f.t.max).Hint = d.rangeHint(f)
	}
}

func (d *decoder) rangeHint(f *field) string {
	switch {
	case f.t.max == "":
		return fmt.Sprintf("write %s or more", f.t.min)
	case f.t.min == "":
		return fmt.Sprintf("write %s or less", f.t.max)
	}
	return fmt.Sprintf("write from %s to %s", f.t.min, f.t.max)
}

func numeric(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}
