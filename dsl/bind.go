package dsl

import (
	"reflect"

	"github.com/planrun/planrun/dsl/diag"
)

func bind[T any](p *Part[T], fill Filler) (Part[T], diag.List) {
	if p.n == nil { // not written: nothing but defaults
		return *p, nil
	}
	var out Part[T]
	var probs diag.List
	d := &decoder{l: p.l, probs: &probs, fill: fill}
	d.decode(p.n, reflect.ValueOf(&out).Elem(), p.f)
	out.Name, out.key = p.Name, p.key
	probs.Sort(nil)
	return out, probs
}
