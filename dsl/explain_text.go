package dsl

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// facts are what the tags of a field say, as rows of a name and a text.
func facts(f *fieldType) [][2]string {
	rows := [][2]string{{"type", typeText(f.typ, f)}}
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, [2]string{name, text})
		}
	}
	if f.required {
		add("required", "yes")
	}
	add("default", f.def)
	if len(f.enum) > 0 {
		add("values", strings.Join(f.enum, ", "))
	}
	var words []string
	for w := range f.words {
		words = append(words, w)
	}
	slices.Sort(words)
	add("words", strings.Join(words, ", "))
	switch {
	case f.min != "" && f.max != "":
		add("range", f.min+" to "+f.max)
	case f.min != "":
		add("range", f.min+" or more")
	case f.max != "":
		add("range", f.max+" or less")
	}
	if f.ref != "" {
		add("names", "one of the plan's "+f.ref)
	}
	if f.uses != "" {
		add("names", "one of the plan's "+f.uses+", with which this is merged")
	}
	if f.path {
		add("path", "relative to the file that writes it")
	}
	if f.eval != "" {
		add("evaluated", timeText(f.eval))
	}
	if f.noHole {
		add("no", "${{ }} here")
	}
	if f.later != "" {
		add("later", f.later)
	}
	return rows
}

// timeText says when expressions are evaluated.
func timeText(t Time) string {
	texts := map[Time]string{
		TimePlan:   "plan: params, host, environment",
		TimeSelect: "select: params and coordinates, for every cell",
		TimeStage:  "stage: when its stage begins; results of earlier stages too",
		TimeRun:    "run: for each run; the target's with, coordinates, addresses of what is installed",
		TimeLive:   "live: while the run goes on; the current values of metrics",
		TimeJudge:  "judge: from the metrics and series of stored runs",
	}
	return texts[t]
}

// typeText is a type in words.
func typeText(t reflect.Type, f *fieldType) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sh, elem := shapeOf(t)
	switch sh {
	case shapeScalar:
		if f != nil && len(f.enum) > 0 {
			return "a word"
		}
		return codecOf(t).want
	case shapeExpr:
		return "an expression, without ${{ }}"
	case shapeValue:
		return "any value"
	case shapeStrings:
		return "a text, or a list of texts"
	case shapeList:
		return "a list; each is " + typeText(elem, f)
	case shapeMap, shapeGoMap, shapeParts:
		return "a mapping of names; each is " + typeText(elem, f)
	case shapePart:
		return typeText(elem, f)
	case shapeAction:
		return "an action"
	case shapePhase:
		return "a phase"
	case shapeProbe:
		return "a probe"
	case shapeLoad:
		return "what the action load takes"
	}
	s := structOf(t)
	if s.short != nil {
		return "a mapping, or " + typeText(s.short.typ, s.short) + " that is short for {" + s.short.key + ": ...}"
	}
	return "a mapping"
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	if last := r[len(r)-1]; last != '.' {
		r = append(r, '.')
	}
	return string(r)
}
