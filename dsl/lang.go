package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/planrun/planrun/dsl/diag"
)

// A lang is what decoding a plan needs to know beside the nodes: the vocabulary and the names of the plan.
type lang struct {
	vocab     Vocabulary
	published bool                        // the plan is one of published figures
	broken    bool                        // a file could not be read, so that names can be missing that are no mistakes
	names     map[string][]string         // of targets, scenarios, stages, loads, backends, relays
	bases     map[string]map[string]*node // what uses can name: loads

	mu    sync.Mutex
	holes map[holeKey]*Hole

	placesOnce sync.Once
	places     map[string][]place // by key
}

// A place is where a key can stand.
type place struct {
	in   *structType
	text string
}

// belongs says where a key belongs that is unknown in a struct, or "".
func (l *lang) belongs(key string, not *structType) string {
	l.placesOnce.Do(l.findPlaces)
	var out []string
	for _, p := range l.places[key] {
		if p.in != not && !slices.Contains(out, p.text) {
			out = append(out, p.text)
		}
	}
	if len(out) == 0 || len(out) > 5 {
		return ""
	}
	return fmt.Sprintf("it belongs under %s", strings.Join(out, " or "))
}

func (l *lang) findPlaces() {
	l.places = map[string][]place{}
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type, text string)
	visit := func(t reflect.Type, text string) {
		if seen[t] {
			return
		}
		seen[t] = true
		s := structOf(t)
		for _, f := range s.fields {
			l.places[f.key] = append(l.places[f.key], place{s, text})
		}
		for _, f := range s.fields {
			below := f.key
			if text != "the top level" {
				below = text + "." + f.key
			}
			walk(f.typ, below)
		}
	}
	walk = func(t reflect.Type, text string) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch sh, elem := shapeOf(t); sh {
		case shapeList, shapePart:
			walk(elem, text)
		case shapeMap, shapeGoMap, shapeParts:
			walk(elem, text+".NAME")
		case shapeStruct:
			visit(t, text)
		case shapePhase:
			visit(t, "a phase")
		case shapeAction:
			visit(t, "an action, beside its kind")
		case shapeProbe:
			visit(t, "a probe")
		}
	}
	visit(typePlan, "the top level")
	for _, k := range l.vocab.Actions {
		visit(reflect.TypeOf(k.New()).Elem(), "the action "+k.Name)
	}
	for _, k := range l.vocab.Probes {
		visit(reflect.TypeOf(k.New()).Elem(), "the probe "+k.Name)
	}
}

// unknownKey reports a key that a struct does not have, and says which one is likely meant; "" if that is not known.
func (d *decoder) unknownKey(key *node, s *structType, f *field) (meant string) {
	where := ""
	if f.name() != "the plan" {
		where = " in " + f.name()
	}
	msg := fmt.Sprintf("unknown key %q", key.text)
	if slices.ContainsFunc(*d.probs, func(p *diag.Problem) bool { return p.Pos == key.pos() && strings.HasPrefix(p.Msg, msg) }) {
		return nearest(key.text, s.keys()) // a load that is used is read where it stands, and where it is used
	}
	p := d.errorf(key, "%s%s", msg, where)
	for _, t := range s.fields {
		if below := structBelow(t.typ); below != nil && below.byKey[key.text] != nil {
			p.Hint = fmt.Sprintf("it belongs under %s: {%s: ...}", t.key, key.text)
			return ""
		}
	}
	if near := nearest(key.text, s.keys()); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
		return near
	}
	if places := d.l.belongs(key.text, s); places != "" {
		p.Hint = places
		return ""
	}
	p.Hint = Suggest(key.text, s.keys(), "keys")
	return ""
}

// structBelow returns the struct of a field's type, if it is one.
func structBelow(t reflect.Type) *structType {
	for {
		sh, elem := shapeOf(t)
		switch sh {
		case shapePart:
			t = elem
		case shapeStruct:
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			return structOf(t)
		default:
			return nil
		}
	}
}
