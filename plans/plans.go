// Package plans holds the shipped plans, their targets and what they include, embedded so that planrun runs them from
// anywhere. A name that is no file on disk is looked up here: `planrun quickstart.yaml` and `planrun plans/quickstart.yaml`
// both work.
package plans

import "embed"

// FS holds the plans as they stand in this directory.
//
//go:embed *.yaml lib published
var FS embed.FS
