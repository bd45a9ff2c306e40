package verdict

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

var typeA, typeB = cel.TypeParamType("A"), cel.TypeParamType("B")
var listA, mapAB = cel.ListType(typeA), cel.MapType(typeA, typeB)

// arith declares one arithmetic operator on numbers; a result that is no number is an error, never a value.
func arith(op, word string, f func(a, b float64) float64) cel.EnvOption {
	return fn(op, []*cel.Type{num, num}, num, func(a ...ref.Val) ref.Val {
		x, y := double(a[0]), double(a[1])
		if y == 0 && (op == operators.Divide || op == operators.Modulo) {
			return undefined("division by zero")
		}
		return finite(word, f(x, y))
	})
}

// operatorOptions are the operators that differ from CEL's: one number type, and what the rewrite puts in (rewrite.go).
func operatorOptions() []cel.EnvOption {
	plus := func(v ...ref.Val) ref.Val { return v[0].(traits.Adder).Add(v[1]) }
	same := func(v ...ref.Val) ref.Val { return v[0] }
	nonEmpty := func(v ...ref.Val) ref.Val {
		if _, complete := v[0].(eventList); !complete && v[0].(traits.Sizer).Size() == types.IntZero {
			return undefined("the list is empty, which proves nothing")
		}
		return v[0]
	}
	opts := []cel.EnvOption{
		arith(operators.Add, "the sum", func(a, b float64) float64 { return a + b }),
		fn(operators.Add, []*cel.Type{text, text}, text, plus), fn(operators.Add, []*cel.Type{listA, listA}, listA, plus),
		arith(operators.Subtract, "the difference", func(a, b float64) float64 { return a - b }),
		arith(operators.Multiply, "the product", func(a, b float64) float64 { return a * b }),
		arith(operators.Divide, "the quotient", func(a, b float64) float64 { return a / b }),
		arith(operators.Modulo, "the remainder", math.Mod),
		fn(operators.Index, []*cel.Type{listA, num}, typeA, index1), fn(operators.Index, []*cel.Type{mapAB, typeA}, typeB, index1),
		fn("@eq", []*cel.Type{typeA, typeA}, boolean, func(v ...ref.Val) ref.Val { return equal(v[0], v[1], types.True) }),
		fn("@ne", []*cel.Type{typeA, typeA}, boolean, func(v ...ref.Val) ref.Val { return equal(v[0], v[1], types.False) }),
		// the checker's view of || and && after the rewrite; decorate puts logic in their place
		fn("@or", []*cel.Type{boolean, boolean}, boolean, same), fn("@and", []*cel.Type{boolean, boolean}, boolean, same),
	}
	for name, check := range map[string]func(...ref.Val) ref.Val{"@items": same, "@nonempty": nonEmpty} {
		into := func(f func(v *object) ref.Val) func(...ref.Val) ref.Val {
			return func(v ...ref.Val) ref.Val {
				if list := f(v[0].(*object)); types.IsError(list) {
					return list
				} else {
					return check(list)
				}
			}
		}
		opts = append(opts, fn(name, []*cel.Type{listA}, listA, check), fn(name, []*cel.Type{mapAB}, mapAB, check),
			fn(name, []*cel.Type{replicasT}, cel.ListType(replicaT), into(func(o *object) ref.Val { return o.v.(lister)() })),
			fn(name, []*cel.Type{runsT}, cel.ListType(cellT), into(func(o *object) ref.Val { return o.v.(lister)() })),
			fn(name, []*cel.Type{seriesT}, nums, into(func(o *object) ref.Val { return toCEL("a series", o.v.(*Series).V) })))
	}
	return opts
}

// equal is == (or, for is false, !=). Values whose types were not known before and turn out to differ are no answer: CEL
// calls them unequal, so that a != "x" holds for every number.
func equal(a, b ref.Val, is types.Bool) ref.Val {
	if a.Type().TypeName() != b.Type().TypeName() {
		return undefined("%s and %s cannot be compared", kindOf(a), kindOf(b))
	}
	switch eq := a.Equal(b).(type) {
	case types.Bool:
		return types.Bool(eq == is)
	default:
		return eq
	}
}

func kindOf(v ref.Val) string {
	switch v.(type) {
	case types.Double:
		return Number.String()
	case types.String:
		return Text.String()
	case types.Bool:
		return Bool.String()
	case traits.Lister:
		return List.String()
	case traits.Mapper:
		return Map.String()
	}
	return Other.String()
}

// lister gives the elements of an object that macros can go through.
type lister func() ref.Val

// index1 is a[i]; the position must be a whole number.
func index1(v ...ref.Val) ref.Val {
	if i, ok := v[1].(types.Double); ok {
		if list, ok := v[0].(traits.Lister); ok {
			size := float64(list.Size().(types.Int))
			if f := float64(i); f != math.Trunc(f) {
				return undefined("a list has no position %s", number(f))
			} else if f < 0 || f >= size {
				return undefined("the list has %s values, but no position %s (the first is 0)", number(size), number(f))
			}
		}
	}
	return v[0].(traits.Indexer).Get(v[1])
}

// recorder keeps what || and && absorbed, what was read, and at which element a loop became false.
type recorder struct {
	absorbed []*Reason
	reads    []Read
	steps    map[int64]*step // of && by node id
}

// step counts the evaluations of one &&; in all(x, ...) there is one an element.
type step struct {
	count, broke int // broke is the first that was false, from 1
}

func (r *recorder) step(id int64, holds bool) {
	if r.steps == nil {
		r.steps = map[int64]*step{}
	}
	s := r.steps[id]
	if s == nil {
		s = &step{}
		r.steps[id] = s
	}
	if s.count++; !holds && s.broke == 0 {
		s.broke = s.count
	}
}

func (r *recorder) absorb(why *Reason) {
	for _, a := range r.absorbed {
		if *a == *why {
			return
		}
	}
	r.absorbed = append(r.absorbed, why)
}

// logic replaces @or and @and: no short circuit, so that the order of the operands does not matter; three-valued, so that
// a fail is not hidden by what is missing; and what it absorbed is recorded, so that a pass is not built on it.
type logic struct {
	interpreter.InterpretableCall
	decides types.Bool // true for ||, false for &&
}

func (l logic) Eval(a interpreter.Activation) ref.Val { return l.Exec(interpreter.AsFrame(a)) }

func (l logic) Exec(f *interpreter.ExecutionFrame) ref.Val {
	var bad *Reason
	decided := false
	for _, arg := range l.Args() {
		switch v := arg.Exec(f).(type) {
		case types.Bool:
			decided = decided || v == l.decides
		case *types.Err:
			bad = worse(bad, reasonOf(v))
		default:
			bad = worse(bad, &Reason{Undefined, fmt.Sprintf("no condition: %v", v)})
		}
	}
	rec := &recorder{}
	if r, ok := f.ResolveName("@rec"); ok {
		rec = r.(*recorder)
	}
	if l.decides == types.False {
		rec.step(l.ID(), !decided)
	}
	switch {
	case decided && bad != nil:
		rec.absorb(bad)
		return l.decides
	case decided:
		return l.decides
	case bad != nil:
		return types.WrapErr(bad)
	}
	return !l.decides
}

// programOptions bound and explain the evaluations of a time. The interrupt check covers loops only: native functions must
// be fast. What selects cells is evaluated for every cell and never explained, so it keeps no state.
func programOptions(at Time) []cel.ProgramOption {
	track := cel.EvalOptions(cel.OptTrackState)
	if at == AtSelect {
		track = cel.EvalOptions()
	}
	return []cel.ProgramOption{track, cel.InterruptCheckFrequency(100),
		cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			if c, ok := i.(interpreter.InterpretableCall); ok && (c.Function() == "@or" || c.Function() == "@and") {
				return logic{c, c.Function() == "@or"}, nil
			}
			return i, nil
		})}
}
