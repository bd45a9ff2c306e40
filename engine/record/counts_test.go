package record

import (
	"reflect"
	"testing"

	"github.com/planrun/planrun/internal/load"
)

// Every field of Counts is added up (or is a maximum), also one that is new, and sum shares nothing with what was added.
func TestAddCountsAddsEveryField(t *testing.T) {
	var one, sum load.Counts
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int64:
			f.SetInt(7)
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
			f.SetMapIndex(reflect.Zero(f.Type().Key()), reflect.ValueOf(int64(7)))
		default:
			t.Fatalf("the field %s is a %v: this test does not know how it is added", v.Type().Field(i).Name, f.Kind())
		}
	}
	AddCounts(&sum, one)
	AddCounts(&sum, one)
	maxima := map[string]bool{"MaxElapsed": true, "StalledLagNs": true}
	got := reflect.ValueOf(sum)
	for i := range got.NumField() {
		f, name := got.Field(i), got.Type().Field(i).Name
		want := int64(14)
		if maxima[name] {
			want = 7
		}
		n := int64(0)
		if f.Kind() == reflect.Map {
			if e := f.MapIndex(reflect.Zero(f.Type().Key())); e.IsValid() {
				n = e.Int()
			}
			if f.Pointer() == v.Field(i).Pointer() {
				t.Errorf("%s is shared with what was added", name)
			}
		} else {
			n = f.Int()
		}
		if n != want {
			t.Errorf("%s is %d after two times 7, want %d", name, n, want)
		}
	}
}
