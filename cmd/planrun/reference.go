package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/verdict"
)

// writeReference writes the reference page: the language, then the functions and the metrics of expressions, and the texts of tables.
func writeReference(w io.Writer) error {
	var b strings.Builder
	b.Write(dsl.Reference(vocabulary))
	b.WriteString("\n## Functions\n\nWhat expressions can call. Every number is of one type; `/` is real division.\n\n| function | | example |\n|---|---|---|\n")
	for _, f := range verdict.Functions() {
		fmt.Fprintf(&b, "| %s | %s | %s is %s |\n", code(f.Usage), cell(f.Doc), code(f.Example), code(f.Result))
	}
	b.WriteString("\n## Metrics\n\nWhat expressions and tables can read of every run. ROLE is `sut`, `load`, `backends`, `control`, or what a start action names.\n\n| metric | unit | better | of several runs | |\n|---|---|---|---|---|\n")
	for _, d := range measure.Catalogue() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(d.Name), cell(d.Unit), d.Better, d.Across, cell(d.Doc))
	}
	b.WriteString("\n## Texts\n\nWhat tables can show beside metrics, in words; where several were seen, each with how many. So can texts that an action sets.\n\n| text | |\n|---|---|\n")
	for _, t := range measure.Texts {
		fmt.Fprintf(&b, "| %s | %s |\n", code(t.Name), cell(t.Doc))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// code is a text as code in a cell of a Markdown table.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.NewReplacer("|", `\|`, "`", "'", "\n", " ").Replace(s) + "`"
}

// cell is a text in a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
