package dsl

import (
	"encoding"
	"reflect"
	"strings"
	"time"
)

// A codec reads one type of scalar.
type codec struct {
	want    string // in words, for messages
	pattern string // of the text, for the schema; empty: jsonType says it
	json    string // "integer", "number", "boolean", "string"
	plain   bool   // a quoted text is not one
	parse   func(text string) (any, error)
	number  func(float64) (any, error) // of a number in the base unit; nil: a number is read as its text
}

// A hint is an error of a scalar that says what to do.
type hint struct{ msg, do string }

func (h *hint) Error() string { return h.msg }

var codecs = map[reflect.Type]*codec{
	reflect.TypeFor[time.Duration](): {want: "a duration such as 250ms or 1m30s", json: "string", pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`,
		parse: func(s string) (any, error) { return parseDuration(s) }, number: func(f float64) (any, error) { return seconds(f) }},
	reflect.TypeFor[Size](): {want: "a size such as 64KiB", json: "string", pattern: `^[0-9]+(\.[0-9]+)?([kKMGT]i?)?B$`,
		parse: func(s string) (any, error) { return parseSize(s) }, number: func(f float64) (any, error) { n, err := whole(f); return Size(n), err }},
	reflect.TypeFor[ByteRate](): {want: "a byte rate such as 4KiB/s", json: "string", pattern: `^[0-9]+(\.[0-9]+)?([kKMGT]i?)?B/s$`,
		parse: func(s string) (any, error) { return parseByteRate(s) }, number: func(f float64) (any, error) { return ByteRate(f), nil }},
	reflect.TypeFor[Rate](): {want: "a rate such as 200/s", json: "string", pattern: `^[0-9]+(\.[0-9]+)?/(s|m|h)$`,
		parse: func(s string) (any, error) { return parseRate(s) }, number: func(f float64) (any, error) { return Rate(f), nil }},
	reflect.TypeFor[Percent](): {want: "a percentage such as 2%", json: "string", pattern: `^-?[0-9]+(\.[0-9]+)?%$`,
		parse: func(s string) (any, error) { return parsePercent(s) }, number: func(f float64) (any, error) { return Percent(f), nil }},
	reflect.TypeFor[At](): {want: "a moment such as 2s or 40%", json: "string", pattern: `^([0-9]+(\.[0-9]+)?%|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`,
		parse: func(s string) (any, error) { return parseAt(s) }, number: func(f float64) (any, error) { d, err := seconds(f); return At{Duration: d}, err }},
	reflect.TypeFor[CPUs](): {want: "a list of CPUs such as 0-7,16-23", json: "string", pattern: `^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`,
		parse: func(s string) (any, error) { return parseCPUs(s) }, number: func(f float64) (any, error) { n, err := whole(f); return CPUs{int(n)}, err }},
	reflect.TypeFor[Address](): {want: "an address such as 127.0.0.1:80 or [::1]:80", json: "string", pattern: `^(\[[0-9A-Fa-f:.%]+\]|[^\[\]:/ ]+):[0-9]+$`,
		parse: func(s string) (any, error) { return parseAddress(s) }},
	reflect.TypeFor[Ident](): {want: "a name such as web_1", json: "string", pattern: identPattern,
		parse: func(s string) (any, error) { return Ident(s), checkIdent(s) }},
	reflect.TypeFor[bool](): {want: "true or false", json: "boolean", plain: true, parse: func(s string) (any, error) { return parseBool(s) }},
	reflect.TypeFor[int](): {want: "an integer", json: "integer", plain: true,
		parse: func(s string) (any, error) { n, err := parseInt(s); return int(n), err }, number: func(f float64) (any, error) { n, err := whole(f); return int(n), err }},
	reflect.TypeFor[int64](): {want: "an integer", json: "integer", plain: true,
		parse: func(s string) (any, error) { return parseInt(s) }, number: func(f float64) (any, error) { return whole(f) }},
	reflect.TypeFor[float64](): {want: "a number", json: "number", plain: true,
		parse: func(s string) (any, error) { return parseNumber(s) }, number: func(f float64) (any, error) { return f, nil }},
	reflect.TypeFor[string](): {want: "a text", json: "string", parse: func(s string) (any, error) { return s, nil }},
}

// codecOf returns the codec of a type, or nil if it is no scalar.
func codecOf(t reflect.Type) *codec {
	if c := codecs[t]; c != nil {
		return c
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &codec{want: "a " + strings.ToLower(t.Name()), json: "string", parse: func(s string) (any, error) {
			v := reflect.New(t)
			err := v.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
			return v.Elem().Interface(), err
		}}
	}
	switch t.Kind() {
	case reflect.String:
		return codecs[reflect.TypeFor[string]()]
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return codecs[reflect.TypeFor[int64]()]
	case reflect.Float64, reflect.Float32:
		return codecs[reflect.TypeFor[float64]()]
	case reflect.Bool:
		return codecs[reflect.TypeFor[bool]()]
	}
	return nil
}
