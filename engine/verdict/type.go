package verdict

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Kind is what a field wants of an expression.
type Kind uint8

const (
	Other  Kind = iota // an object of the results, such as a series; no value of a field. As a Type: not known before it is read
	Number             // float64
	Text               // string
	Bool               // bool
	List               // []any
	Map                // map[string]any
)

var kindText = []string{"something else", "a number", "text", "a condition", "a list", "a map"}

func (k Kind) String() string { return kindText[k] }

// Type is the type of a value; the zero Type is of values whose type shows when they are read.
type Type struct{ t *cel.Type }

// TypeOfKind is the type of a kind; lists and maps hold anything.
func TypeOfKind(k Kind) Type {
	switch k {
	case Number:
		return Type{cel.DoubleType}
	case Text:
		return Type{cel.StringType}
	case Bool:
		return Type{cel.BoolType}
	case List:
		return Type{cel.ListType(cel.DynType)}
	case Map:
		return Type{cel.MapType(cel.StringType, cel.DynType)}
	}
	return Type{}
}

// ListOf is a list of e.
func ListOf(e Type) Type { return Type{cel.ListType(e.cel())} }

// Kind of values of this type.
func (t Type) Kind() Kind {
	switch t.cel().Kind() {
	case types.DoubleKind:
		return Number
	case types.StringKind:
		return Text
	case types.BoolKind:
		return Bool
	case types.ListKind:
		return List
	case types.MapKind:
		return Map
	}
	return Other
}

// Known is false where the type shows only when the value is read.
func (t Type) Known() bool { return t.cel().Kind() != types.DynKind }

func (t Type) String() string { return symbols.Replace(t.cel().String()) }

func (t Type) cel() *cel.Type {
	if t.t == nil {
		return cel.DynType
	}
	return t.t
}

// TypeOf is the type of a Go value as YAML and JSON give it: numbers of any Go type are numbers, durations are seconds.
// A list of values of different types is a list of anything.
func TypeOf(v any) Type {
	switch v := v.(type) {
	case nil:
		return Type{}
	case string:
		return TypeOfKind(Text)
	case bool:
		return TypeOfKind(Bool)
	case time.Duration:
		return TypeOfKind(Number)
	default:
		r := reflect.ValueOf(v)
		switch {
		case r.CanFloat() || r.CanInt() || r.CanUint():
			return TypeOfKind(Number)
		case r.Kind() == reflect.Slice:
			return ListOf(common(r.Len(), func(i int) any { return r.Index(i).Interface() }))
		case r.Kind() == reflect.Map && r.Type().Key().Kind() == reflect.String:
			keys := r.MapKeys()
			e := common(len(keys), func(i int) any { return r.MapIndex(keys[i]).Interface() })
			return Type{cel.MapType(cel.StringType, e.cel())}
		}
	}
	return Type{}
}

func common(n int, at func(int) any) (t Type) {
	for i := range n {
		switch e := TypeOf(at(i)); {
		case i == 0:
			t = e
		case !t.cel().IsExactType(e.cel()):
			return Type{}
		}
	}
	return t
}

// toCEL is the only door through which values of the plan enter: every number is a double, and none is NaN or infinite.
func toCEL(what string, v any) ref.Val {
	switch v := v.(type) {
	case nil:
		return missing("no data: %s has no value", what)
	case string:
		return types.String(v)
	case bool:
		return types.Bool(v)
	case time.Duration:
		return types.Double(v.Seconds())
	case ref.Val:
		return v
	case *Reason:
		return types.WrapErr(v)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanFloat():
		return finite(what, r.Float())
	case r.CanInt():
		return types.Double(r.Int())
	case r.CanUint():
		return types.Double(r.Uint())
	case r.Kind() == reflect.Slice:
		out := make([]ref.Val, r.Len())
		for i := range out {
			if out[i] = toCEL(fmt.Sprintf("%s[%d]", what, i), r.Index(i).Interface()); types.IsError(out[i]) {
				return out[i]
			}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, out)
	case r.Kind() == reflect.Map && r.Type().Key().Kind() == reflect.String:
		out := map[ref.Val]ref.Val{}
		for _, k := range r.MapKeys() {
			e := toCEL(what+"."+k.String(), r.MapIndex(k).Interface())
			if types.IsError(e) {
				return e
			}
			out[types.String(k.String())] = e
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, out)
	}
	return undefined("%s is of no type that expressions know (%T)", what, v)
}

// fromCEL gives float64, string, bool, []any or map[string]any; it reports false for objects of the results.
func fromCEL(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case types.Double:
		return float64(v), true
	case types.String:
		return string(v), true
	case types.Bool:
		return bool(v), true
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			name, text := k.(types.String)
			e, ok := fromCEL(v.Get(k))
			if !text || !ok {
				return nil, false
			}
			out[string(name)] = e
		}
		return out, true
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			e, ok := fromCEL(it.Next())
			if !ok {
				return nil, false
			}
			out = append(out, e)
		}
		return out, true
	}
	return nil, false
}

// finite keeps NaN and infinities from being values.
func finite(what string, f float64) ref.Val {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return undefined("%s is undefined (%v)", what, f)
	}
	return types.Double(f)
}

// valueText is how a coordinate's value is written: 1000000, not 1e+06.
func valueText(v any) string {
	switch v := toCEL("the value", v).(type) {
	case types.Double:
		return number(float64(v))
	case types.String:
		return string(v)
	case types.Bool:
		return fmt.Sprint(bool(v))
	}
	return strings.TrimSpace(fmt.Sprint(v))
}
