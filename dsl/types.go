package dsl

import (
	"reflect"
	"strings"
	"sync"
)

// A structType is what the tags of a struct say.
type structType struct {
	typ    reflect.Type
	fields []*fieldType
	byKey  map[string]*fieldType
	short  *fieldType // set by a bare scalar or list
	uses   *fieldType // names what the mapping is merged with
	kinds  []*fieldType
}

// A fieldType is one field of a struct with what its tags say.
type fieldType struct {
	key, doc                      string
	index                         []int
	typ                           reflect.Type
	required, short, kind, path   bool
	noHole                        bool
	def, min, max                 string
	enum                          []string
	words                         map[string]string
	eval                          Time
	uses, ref, keys, merge, later string
}

var structTypes sync.Map // reflect.Type to *structType

// structOf reads the tags of a struct type.
func structOf(t reflect.Type) *structType {
	if s, ok := structTypes.Load(t); ok {
		return s.(*structType)
	}
	s := &structType{typ: t, byKey: map[string]*fieldType{}}
	s.add(t, nil)
	structTypes.Store(t, s)
	return s
}

func (s *structType) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		idx := append(append([]int(nil), index...), i)
		key, tagged := sf.Tag.Lookup("yaml")
		if sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct {
			s.add(sf.Type, idx)
			continue
		}
		if !sf.IsExported() || key == "" || key == "-" {
			continue
		}
		f := newFieldType(sf, key, idx)
		s.fields = append(s.fields, f)
		s.byKey[key] = f
		if f.short {
			s.short = f
		}
		if f.uses != "" {
			s.uses = f
		}
		if f.kind {
			s.kinds = append(s.kinds, f)
		}
	}
}

func newFieldType(sf reflect.StructField, key string, index []int) *fieldType {
	tag := func(name string) string { return sf.Tag.Get(name) }
	f := &fieldType{
		key: key, index: index, typ: sf.Type, doc: tag("doc"),
		required: tag("required") == "true", short: tag("short") == "true", kind: tag("kind") == "true",
		path: tag("path") == "true", noHole: tag("hole") == "no",
		def: tag("default"), min: tag("min"), max: tag("max"), eval: Time(tag("eval")),
		uses: tag("uses"), ref: tag("ref"), keys: tag("keys"), merge: tag("merge"), later: tag("later"),
	}
	if e := tag("enum"); e != "" {
		f.enum = strings.Split(e, "|")
	}
	for w := range strings.SplitSeq(tag("words"), "|") {
		if k, v, ok := strings.Cut(w, "="); ok {
			if f.words == nil {
				f.words = map[string]string{}
			}
			f.words[k] = v
		}
	}
	return f
}

func (s *structType) keys() []string {
	out := make([]string, len(s.fields))
	for i, f := range s.fields {
		out[i] = f.key
	}
	return out
}

// A shape is how a type is written in YAML.
type shape int

const (
	shapeScalar shape = iota
	shapeExpr
	shapeValue
	shapeList    // a slice
	shapeStrings // one text or a list
	shapeMap     // Map[T]: element type of the values
	shapeGoMap   // map[string]T
	shapeParts   // Parts[T]: a mapping of parts
	shapePart    // Part[T]
	shapeStruct
	shapeAction
	shapePhase
	shapeProbe
	shapeLoad
)

var (
	typeExpr     = reflect.TypeFor[Expr]()
	typeValue    = reflect.TypeFor[Value]()
	typeStrings  = reflect.TypeFor[Strings]()
	typeAction   = reflect.TypeFor[Action]()
	typePhase    = reflect.TypeFor[Phase]()
	typeProbe    = reflect.TypeFor[Probe]()
	typeLoad     = reflect.TypeFor[NamedLoad]()
	typePlan     = reflect.TypeFor[Plan]()
	typeTarget   = reflect.TypeFor[Target]()
	typeKnob     = reflect.TypeFor[Knob]()
	typeParam    = reflect.TypeFor[Param]()
	typeScenario = reflect.TypeFor[Scenario]()
)

// shapeOf returns how a type is written, and the type of what is in it. Pointers are looked through.
func shapeOf(t reflect.Type) (shape, reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case typeExpr:
		return shapeExpr, nil
	case typeValue:
		return shapeValue, nil
	case typeStrings:
		return shapeStrings, reflect.TypeFor[string]()
	case typeAction:
		return shapeAction, nil
	case typePhase:
		return shapePhase, nil
	case typeProbe:
		return shapeProbe, nil
	case typeLoad:
		return shapeLoad, nil
	}
	if codecOf(t) != nil {
		return shapeScalar, nil
	}
	switch t.Kind() {
	case reflect.Map:
		return shapeGoMap, t.Elem()
	case reflect.Slice:
		if _, ok := reflect.Zero(t).Interface().(isMap); ok {
			return shapeMap, t.Elem().Field(2).Type
		}
		if _, ok := reflect.Zero(t).Interface().(isParts); ok {
			return shapeParts, t.Elem()
		}
		return shapeList, t.Elem()
	case reflect.Struct:
		if f, ok := t.FieldByName("Val"); ok && reflect.PointerTo(t).Implements(typePartHolder) {
			return shapePart, f.Type
		}
		return shapeStruct, nil
	}
	panic("dsl: a plan cannot hold a " + t.String())
}

// isMap and isParts tell Map and Parts from other slices.
type (
	isMap   interface{ isMap() }
	isParts interface{ isParts() }
)

func (Map[T]) isMap()     {}
func (Parts[T]) isParts() {}

// A partHolder is a *Part[T].
type partHolder interface {
	hold() *part
	setName(string, *node)
}

var typePartHolder = reflect.TypeFor[partHolder]()

func (p *Part[T]) hold() *part                 { return &p.part }
func (p *Part[T]) setName(s string, key *node) { p.Name, p.key = s, key }
