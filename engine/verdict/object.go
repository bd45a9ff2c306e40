package verdict

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// The types of the language's objects. Their names cannot be written in an expression: they would resolve as identifiers.
var (
	num, text, boolean = cel.DoubleType, cel.StringType, cel.BoolType
	nums               = cel.ListType(num)
	cellT              = cel.ObjectType("@cell")
	phaseT             = cel.ObjectType("@phase")
	loadT              = cel.ObjectType("@load")
	runsT              = cel.ObjectType("@runs")
	replicasT          = cel.ObjectType("@replicas")
	replicaT           = cel.ObjectType("@replica")
	seriesT            = cel.ObjectType("@series")
	fitT               = cel.ObjectType("@fit")
	targetT            = cel.ObjectType("@target")
	eventT             = cel.ObjectType("@event")
	planT              = cel.ObjectType("@plan") // what the functions of a plan are methods of
	targetsT           = cel.ListType(targetT)
	eventsT            = cel.ListType(eventT)
)

var objects = func() map[string]*cel.Type {
	out := map[string]*cel.Type{}
	for _, t := range []*cel.Type{cellT, phaseT, loadT, runsT, replicasT, replicaT, seriesT, fitT, targetT, eventT, planT} {
		out[t.TypeName()] = t
	}
	return out
}()

// fixed are the fields of objects that are the same in every plan.
var fixed = map[string]map[string]*cel.Type{
	"@fit":    {"r2": num, "rise": num, "slope": num},
	"@target": {"name": text},
	"@event":  {"at": num, "process": text, "detail": text},
	"@series": {},
	"@plan":   {},
}

// object is every object of the language: a type, a field getter, and what its methods work on.
type object struct {
	t   *cel.Type
	get func(field string) ref.Val
	v   any
}

func (o *object) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s is no value of a field", Type{o.t})
}
func (o *object) ConvertToType(ref.Type) ref.Val { return undefined("%s is no value", Type{o.t}) }
func (o *object) Type() ref.Type                 { return o.t }
func (o *object) Value() any                     { return o }

// Equal compares targets; other objects have no equality.
func (o *object) Equal(other ref.Val) ref.Val {
	if p, ok := other.(*object); ok && o.t == targetT && p.t == targetT {
		return types.Bool(o.v == p.v)
	}
	return undefined("a %s cannot be compared", Type{o.t})
}

// eventList is a list that is complete: that it is empty is a result.
type eventList struct{ traits.Lister }

// provider says yes to every field, so that type checking goes on; the walk rejects unknown fields with a suggestion,
// because it knows the address of the object (which scenario, which phase) and the provider does not.
type provider struct {
	*types.Registry
	ix *index
}

func (p *provider) FindStructType(n string) (*types.Type, bool) {
	t, ok := objects[n]
	return t, ok
}

func (p *provider) FindStructFieldType(n, f string) (*types.FieldType, bool) {
	if objects[n] == nil {
		return nil, false
	}
	return &types.FieldType{Type: p.fieldType(n, f), IsSet: func(any) bool { return true }, GetFrom: func(o any) (any, error) {
		v := o.(*object).get(f)
		if e, ok := v.(*types.Err); ok {
			return nil, e
		}
		return v, nil
	}}, true
}

func (p *provider) fieldType(n, f string) *cel.Type {
	switch {
	case n == "@cell" && f == "runs":
		return runsT
	case n == "@cell" || n == "@phase" || n == "@load":
		return num
	case n == "@runs":
		return nums
	case n == "@replicas" && p.ix.replica[f].List:
		return cel.ListType(nums)
	case n == "@replicas" || n == "@replica" && p.ix.replica[f].List:
		return nums
	case n == "@replica":
		return num
	}
	if t, ok := fixed[n][f]; ok {
		return t
	}
	return cel.DynType // unknown; the walk will say so
}

func nothing(what string) func(string) ref.Val {
	return func(f string) ref.Val { return undefined("%s has no %s", what, f) }
}
