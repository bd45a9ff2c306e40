package report

import (
	"regexp"
	"slices"

	"github.com/planrun/planrun/engine/record"
)

// builtIn ends a sentence about servers of planrun's own.
const builtIn = ", built into the program that measured here."

// ownWords says that a target is a server of planrun's own.
func ownWords(t record.Target) string {
	return oneLine(t.Name) + " is planrun's own " + oneLine(t.Own)
}

// disclose puts before the first findings that name targets of planrun's own that they are.
func (b *builder) disclose(groups []finding) []finding {
	own := make([][]string, len(groups))
	for _, t := range b.res.Targets {
		if t.Own == "" {
			continue
		}
		named := regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(oneLine(t.Name)) + `($|[^\pL\pN_-])`)
		if i := slices.IndexFunc(groups, func(f finding) bool { return f.names(named) }); i >= 0 {
			own[i] = append(own[i], ownWords(t))
		}
	}
	for i, words := range own {
		if len(words) > 0 {
			groups[i].items = slices.Insert(slices.Clone(groups[i].items), 0, text(strong(and(words)), builtIn))
		}
	}
	return groups
}

// names reports whether a finding has a name somewhere.
func (f *finding) names(name *regexp.Regexp) bool {
	in := func(t Text) bool { return name.MatchString(plain(t)) }
	return slices.ContainsFunc(f.items, in) || f.table != nil && slices.ContainsFunc(f.table.Rows, func(r []Text) bool { return slices.ContainsFunc(r, in) })
}
