package verdict

import (
	"math"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

var textFunctions = []function{
	{Doc{"string", "text", "string(x)", "A number as text.", `string(1000000) + " requests"`, "1000000 requests"},
		[]cel.EnvOption{fn("string", []*cel.Type{num}, text, func(v ...ref.Val) ref.Val { return types.String(number(double(v[0]))) })}},
	{Doc{"contains", "text", "s.contains(part)", "Whether s has the part.", `"nginx-tuned".contains("tuned")`, "true"}, nil},
	{Doc{"startsWith", "text", "s.startsWith(part)", "Whether s begins with the part.", `"tls-h1".startsWith("tls")`, "true"}, nil},
	{Doc{"endsWith", "text", "s.endsWith(part)", "Whether s ends with the part.", `"tls-h1".endsWith("h1")`, "true"}, nil},
	{Doc{"matches", "text", "s.matches(regexp)", "Whether the regular expression (RE2) matches somewhere in s.", `"tls-h2".matches("h[12]$")`, "true"}, nil},
	{Doc{"charAt", "text", "s.charAt(i)", "The character at a position, from 0.", `"abc".charAt(1)`, "b"}, fromLibrary("charAt")},
	{Doc{"indexOf", "text", "s.indexOf(part)", "Where the part begins, or -1.", `"abc".indexOf("c")`, "2"}, fromLibrary("indexOf")},
	{Doc{"lastIndexOf", "text", "s.lastIndexOf(part)", "Where the last such part begins, or -1.", `"abab".lastIndexOf("ab")`, "2"}, fromLibrary("lastIndexOf")},
	{Doc{"join", "text", "list.join(separator)", "A list of texts as one.", `["a", "b"].join("+")`, "a+b"}, fromLibrary("join")},
	{Doc{"lowerAscii", "text", "s.lowerAscii()", "In small letters.", `"ABC".lowerAscii()`, "abc"}, fromLibrary("lowerAscii")},
	{Doc{"upperAscii", "text", "s.upperAscii()", "In capital letters.", `"abc".upperAscii()`, "ABC"}, fromLibrary("upperAscii")},
	{Doc{"replace", "text", "s.replace(part, by)", "Every such part replaced.", `"a-b-c".replace("-", "_")`, "a_b_c"}, fromLibrary("replace")},
	{Doc{"split", "text", "s.split(separator)", "The parts between the separators.", `"0-7,16".split(",")[1]`, "16"}, fromLibrary("split")},
	{Doc{"substring", "text", "s.substring(from, to)", "The characters from a position up to another.", `"abcdef".substring(2, 4)`, "cd"}, fromLibrary("substring")},
	{Doc{"trim", "text", "s.trim()", "Without white space at both ends.", `"  x ".trim()`, "x"}, fromLibrary("trim")},
}

// fromLibrary takes one function of CEL's string library, with numbers in the place of its ints.
func fromLibrary(name string) []cel.EnvOption {
	return []cel.EnvOption{func(e *cel.Env) (*cel.Env, error) {
		lib, err := stringLibrary()
		if err != nil {
			return nil, err
		}
		f := lib.Functions()[name]
		bindings, err := f.Bindings()
		if err != nil {
			return nil, err
		}
		impl := map[string]*functions.Overload{}
		for _, b := range bindings {
			impl[b.Operator] = b
		}
		for _, o := range f.OverloadDecls() {
			b := impl[o.ID()]
			if b == nil {
				b = impl[name]
			}
			wants := o.ArgTypes()
			args, ret := slices.Clone(wants), o.ResultType()
			for i, t := range args {
				if t == cel.IntType {
					args[i] = num
				}
			}
			if ret == cel.IntType {
				ret = num
			}
			opt := cel.MemberOverload(o.ID(), args, ret, binding(len(args), func(v ...ref.Val) ref.Val { return callWithInts(name, b, wants, v) }))
			if e, err = cel.Function(name, opt)(e); err != nil {
				return nil, err
			}
		}
		return e, nil
	}}
}

var stringLibrary = sync.OnceValues(func() (*cel.Env, error) { return cel.NewCustomEnv(ext.Strings()) })

func callWithInts(name string, b *functions.Overload, wants []*cel.Type, args []ref.Val) ref.Val {
	v := slices.Clone(args)
	for i := range v {
		if d, ok := v[i].(types.Double); ok && wants[i] == cel.IntType {
			if float64(d) != math.Trunc(float64(d)) {
				return undefined("%s() wants a whole number, not %s", name, number(float64(d)))
			}
			v[i] = types.Int(d)
		}
	}
	var r ref.Val
	switch {
	case b.Unary != nil && len(v) == 1:
		r = b.Unary(v[0])
	case b.Binary != nil && len(v) == 2:
		r = b.Binary(v[0], v[1])
	default:
		r = b.Function(v...)
	}
	if i, ok := r.(types.Int); ok {
		return types.Double(i)
	}
	return r
}
