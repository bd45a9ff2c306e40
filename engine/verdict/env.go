package verdict

import (
	"strings"

	"github.com/google/cel-go/cel"
	cenv "github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Bounds on one expression. CEL's own cost limit is not enforced while state is tracked; the deadline of Eval is.
const (
	maxRunes   = 4096
	maxNesting = 60
	maxLoops   = 3 // comprehensions within each other
)

// newEnv makes the environment that those of all times extend: the operators, the macros and the library.
func newEnv(ix *index) (*cel.Env, error) {
	reg, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	std := cenv.NewLibrarySubset().AddIncludedMacros(operators.All, operators.Exists, operators.ExistsOne, operators.Map, operators.Filter)
	for _, f := range []string{operators.Conditional, operators.LogicalNot, operators.Less,
		operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In, operators.Negate, operators.NotStrictlyFalse,
		"contains", "startsWith", "endsWith", "matches"} {
		std.AddIncludedFunctions(cenv.NewFunction(f))
	}
	opts := []cel.EnvOption{cel.StdLib(cel.StdLibSubset(std)), cel.CustomTypeProvider(&provider{reg, ix}), cel.CustomTypeAdapter(reg),
		cel.EnableMacroCallTracking(), cel.ParserExpressionSizeLimit(maxRunes), cel.ParserRecursionLimit(maxNesting),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(maxLoops), cel.ValidateHomogeneousAggregateLiterals())}
	opts = append(opts, operatorOptions()...)
	for _, family := range library {
		for _, f := range family {
			opts = append(opts, f.options...)
		}
	}
	return cel.NewCustomEnv(opts...)
}

// declare are the variables and functions that a schema adds at one time.
func declare(names []Name, metrics map[string]Metric, functions []Function, t Time) (opts []cel.EnvOption) {
	for _, n := range names {
		if n.In&t != 0 {
			opts = append(opts, cel.Variable(n.Name, n.Type.cel()))
		}
	}
	if t&(AtLive|AtJudge) != 0 {
		for m := range metrics {
			opts = append(opts, cel.Variable(m, num))
		}
	}
	for _, f := range functions {
		if f.In&t == 0 {
			continue
		}
		args := []*cel.Type{planT}
		for _, a := range f.Args {
			args = append(args, a.cel())
		}
		name := f.Name
		opts = append(opts, method(name, args, f.Result.cel(), func(v ...ref.Val) ref.Val { return v[0].(*object).v.(*activation).call(name, v[1:]) }))
	}
	return opts
}

// fn declares a function; its overload ids are derived from the argument types.
func fn(name string, args []*cel.Type, ret *cel.Type, f func(a ...ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.Overload(overloadID(name, args), args, ret, binding(len(args), f)))
}

func method(name string, args []*cel.Type, ret *cel.Type, f func(a ...ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("m_"+overloadID(name, args), args, ret, binding(len(args), f)))
}

func overloadID(name string, args []*cel.Type) string {
	for _, a := range args {
		name += "_" + strings.NewReplacer("(", "_", ")", "", ", ", "_").Replace(a.String())
	}
	return name + "_"
}

func binding(n int, f func(a ...ref.Val) ref.Val) cel.OverloadOpt {
	switch n {
	case 1:
		return cel.UnaryBinding(func(a ref.Val) ref.Val { return f(a) })
	case 2:
		return cel.BinaryBinding(func(a, b ref.Val) ref.Val { return f(a, b) })
	}
	return cel.FunctionBinding(f)
}

// double reads an argument that the checker or the dispatcher knows to be a number.
func double(v ref.Val) float64 { return float64(v.(types.Double)) }
