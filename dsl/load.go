package dsl

import "github.com/planrun/planrun/dsl/diag"

// Options are how a plan is loaded. The zero value reads from disk and overrides nothing.
type Options struct {
	Vocabulary Vocabulary
	ReadFile   func(path string) ([]byte, error) // nil: os.ReadFile
	Presets    []string                          // applied in order, after the plan
	Set        []string                          // "name=value" for params, applied last
}

// Load reads a plan and what it includes. It reports every problem of all of them in one pass, in the order of the files;
// the plan is nil if one is more than a warning... though what could be read is in Sources of the returned plan always.
func Load(file string, opt Options) (*Plan, diag.List) {
	panic("not yet")
}
