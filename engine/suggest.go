package engine

import (
	"slices"

	"github.com/planrun/planrun/dsl"
)

// didYouMean is a hint: the name that was probably meant, or those that there are.
func didYouMean(name string, names []string) string {
	return dsl.Suggest(name, slices.Compact(slices.Sorted(slices.Values(names))), "names here")
}
