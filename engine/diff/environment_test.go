package diff_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/engine/record"
)

// notCompared are the fields of environment.json that are no difference between two machines, each with its reason.
var notCompared = map[string]string{
	"version":        "the format's, not the machine's: sets of another one are not read",
	"token":          "tells two plan runs apart: it is other in each",
	"boot_id":        "other after each start of the machine; what of it changes figures (kernel, sysctls) is compared",
	"plan":           "where the plan's file was; what it says is compared",
	"start":          "stands in the heading of both sides",
	"command":        "what its options changed is in the plan, which is compared",
	"left_out_cells": "says of a cell without a counterpart why it has none",
}

// What a machine is recorded to be is compared, or there is a reason why not: a field that is recorded lately is not
// forgotten in silence.
func TestEveryFieldOfAnEnvironmentIsCompared(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[record.Environment]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := func(n int) *diff.Set {
				s := one(100)
				s.Environment = func(e *record.Environment) { fill(reflect.ValueOf(e).Elem().Field(i), n) }
				if name == "version" || name == "imported" && n == 0 { // another version is not read; measured beside published
					s.Environment = nil
				}
				return open(t, "side", s)
			}
			differs := compareSets(t, side(0), side(1), diff.CompareOptions{}).Differences
			if name == "programs" {
				name = "nginx"
			}
			said := slices.ContainsFunc(differs, func(d diff.Difference) bool { return d.Where == name || strings.HasPrefix(d.Where, name+".") })
			if why := notCompared[name]; said == (why != "") {
				t.Errorf("compared: %v; reason not to: %q; differences: %v", said, why, differs)
			}
		})
	}
}

// fill gives a value that another n makes another one.
func fill(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", n+1))
	case reflect.Int:
		v.SetInt(int64(n + 1))
	case reflect.Float64:
		v.SetFloat(float64(n+1) * 1000)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		one := reflect.New(v.Type().Elem()).Elem()
		fill(one, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("nginx"), one)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), n)
			}
		}
	}
}
