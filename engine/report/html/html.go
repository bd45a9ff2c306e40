// Package html writes a report as one HTML page that needs nothing else: its style sheet, its script and its charts are
// in it, and its content security policy forbids everything that is not. The charts are SVG made here, so that the page
// says all it has to say without its script, and on paper.
//
// Everything that a name, an event or an error says is escaped by html/template, by its place in the page, or by the
// canvas that draws charts.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/planrun/planrun/engine/report"
)

//go:embed page.tmpl
var pageText string

//go:embed style.css
var styleText string

//go:embed script.js
var scriptText string

// Write writes the document as a page.
func Write(w io.Writer, d *report.Document) error {
	p := &writer{refs: map[int][]string{}}
	t, err := template.New("page").Funcs(p.funcs()).Parse(pageText)
	if err != nil {
		return fmt.Errorf("parsing the page's template: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Doc":    d,
		"Policy": policy(),
		"Style":  template.HTML("<style>" + styleText + "</style>"),
		"Script": template.HTML("<script>" + scriptText + "</script>"),
	})
	if err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// policy allows this very style sheet and script and nothing else.
func policy() string {
	return "default-src 'none'; style-src '" + digest(styleText) + "'; script-src '" + digest(scriptText) + "'; base-uri 'none'; form-action 'none'"
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
