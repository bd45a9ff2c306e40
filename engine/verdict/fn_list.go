package verdict

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/planrun/planrun/engine/stats"
)

var listFunctions = []function{
	{Doc{"size", "lists", "x.size()", "How many values a list or a map has, or characters a text, or samples a series.", `[4, 5, 6].size()`, "3"}, sizes()},
	{Doc{"min", "lists", "list.min()", "The smallest value; undefined for an empty list.", `[3, 1, 2].min()`, "1"}, overList("min", 1, slices.Min[[]float64])},
	{Doc{"max", "lists", "list.max()", "The largest value; undefined for an empty list.", `runs.req_per_s.max() >= req_per_s`, "true"}, overList("max", 1, slices.Max[[]float64])},
	{Doc{"mean", "lists", "list.mean()", "The arithmetic mean.", `[1, 2, 6].mean()`, "3"}, overList("mean", 1, stats.Mean)},
	{Doc{"median", "lists", "list.median()", "The middle value, or the mean of the two middle ones.", `[1, 2, 6].median()`, "2"}, overList("median", 1, stats.Median)},
	{Doc{"sum", "lists", "list.sum()", "The sum; 0 for an empty list.", `[1, 2, 6].sum()`, "9"}, overList("sum", 0, stats.Sum)},
	{Doc{"cv", "lists", "cv(list)", "The coefficient of variation: the population standard deviation by the mean. Undefined for fewer than two values and for a mean of 0.",
		`cv([6, 0, 0, 0, 0, 0]) > 2.23`, "true"}, overList("cv", 2, stats.CV)},
	{Doc{"first", "lists", "list.first()", "The first value; undefined for an empty list.", `["a", "b"].first()`, "a"}, end("first", func(n int) int { return 0 })},
	{Doc{"last", "lists", "list.last()", "The last value; undefined for an empty list.", `["a", "b"].last()`, "b"}, end("last", func(n int) int { return n - 1 })},
}

// macros are CEL's; the rewrite makes them look at every element, and undefined over an empty list.
var macros = []function{
	{Doc{"all", "lists", "list.all(x, condition)", "Whether it holds for every element. Undefined for an empty list, which proves nothing; an empty events(...) is a result.", `[1, 2].all(x, x < 3)`, "true"}, nil},
	{Doc{"exists", "lists", "list.exists(x, condition)", "Whether it holds for some element. Undefined for an empty list.", `[1, 2].exists(x, x > 1)`, "true"}, nil},
	{Doc{"exists_one", "lists", "list.exists_one(x, condition)", "Whether it holds for exactly one element. Undefined for an empty list.", `[1, 2].exists_one(x, x > 1)`, "true"}, nil},
	{Doc{"filter", "lists", "list.filter(x, condition)", "The elements for which it holds.", `[1, 2, 3].filter(x, x > 1).size()`, "2"}, nil},
	{Doc{"map", "lists", "list.map(x, value)", "A value for every element.", `[1, 2, 3].map(x, x * 2).sum()`, "12"}, nil},
}

// overList declares NAME(list) and list.NAME(); fewer than least values are undefined.
func overList(name string, least int, f func(v []float64) float64) []cel.EnvOption {
	g := func(a ...ref.Val) ref.Val {
		v, err := floats(name, a[0])
		switch {
		case err != nil:
			return err
		case len(v) < least:
			return undefined("%s() of %d values; it needs %d", name, len(v), least)
		}
		return finite(name+"()", f(v))
	}
	return []cel.EnvOption{fn(name, []*cel.Type{nums}, num, g), method(name, []*cel.Type{nums}, num, g)}
}

// floats reads a list of numbers; a list whose type was not known may hold something else.
func floats(name string, v ref.Val) ([]float64, ref.Val) {
	var out []float64
	for it := v.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		d, ok := it.Next().(types.Double)
		if !ok {
			return nil, undefined("%s() wants a list of numbers", name)
		}
		out = append(out, float64(d))
	}
	return out, nil
}

func end(name string, at func(n int) int) []cel.EnvOption {
	return []cel.EnvOption{method(name, []*cel.Type{listA}, typeA, func(v ...ref.Val) ref.Val {
		list := v[0].(traits.Lister)
		n := int(list.Size().(types.Int))
		if n == 0 {
			return undefined("%s() of an empty list", name)
		}
		return list.Get(types.Int(at(n)))
	})}
}

func sizes() (opts []cel.EnvOption) {
	size := func(v ...ref.Val) ref.Val { return types.Double(v[0].(traits.Sizer).Size().(types.Int)) }
	for _, t := range []*cel.Type{listA, mapAB, text} {
		opts = append(opts, fn("size", []*cel.Type{t}, num, size), method("size", []*cel.Type{t}, num, size))
	}
	for _, t := range []*cel.Type{runsT, replicasT} {
		opts = append(opts, method("size", []*cel.Type{t}, num, func(v ...ref.Val) ref.Val {
			list := v[0].(*object).v.(lister)()
			if types.IsError(list) {
				return list
			}
			return size(list)
		}))
	}
	return opts
}
