package verdict

import (
	"strconv"

	"github.com/google/cel-go/cel"
)

// Doc documents one function of the language. Example is an expression with the value Result; a test evaluates it.
type Doc struct {
	Name    string
	Family  string // numbers, units, text, lists, series, results
	Usage   string
	Doc     string
	Example string
	Result  string
}

// function is a documented entry of the library.
type function struct {
	Doc
	options []cel.EnvOption
}

// library is everything that expressions can call. To add a function, add a line to a family.
var library = [][]function{numberFunctions, unitFunctions, textFunctions, listFunctions, macros, seriesFunctions, cellFunctions}

// Functions lists the documentation of the library, by family.
func Functions() (out []Doc) {
	for _, family := range library {
		for _, f := range family {
			out = append(out, f.Doc)
		}
	}
	return out
}

// number writes 1000000 as 1000000, not as 1e+06.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
