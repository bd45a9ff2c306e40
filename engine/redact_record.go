package engine

import "reflect"

// redacted is a copy of v in which every text is without secrets; v itself where the plan has none. Keys of maps stay as
// they are: they are names of the plan's own.
func redacted[T any](p *Program, v *T) *T {
	if p.secrets.none() {
		return v
	}
	out := new(T)
	p.redactInto(reflect.ValueOf(out).Elem(), reflect.ValueOf(v).Elem())
	return out
}

// redactInto copies from, which may not hold a circle.
func (p *Program) redactInto(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(p.redact(from.String()))
		return
	case reflect.Struct:
		to.Set(from) // what is not exported (the inside of a time) stays
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				p.redactInto(to.Field(i), from.Field(i))
			}
		}
		return
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		if from.IsNil() {
			return
		}
	default:
		to.Set(from)
		return
	}
	switch from.Kind() {
	case reflect.Slice:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			p.redactInto(to.Index(i), from.Index(i))
		}
	case reflect.Map:
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for it := from.MapRange(); it.Next(); {
			value := reflect.New(from.Type().Elem()).Elem()
			p.redactInto(value, it.Value())
			to.SetMapIndex(it.Key(), value)
		}
	case reflect.Pointer:
		to.Set(reflect.New(from.Type().Elem()))
		p.redactInto(to.Elem(), from.Elem())
	case reflect.Interface:
		value := reflect.New(from.Elem().Type()).Elem()
		p.redactInto(value, from.Elem())
		to.Set(value)
	}
}
