// Package report makes the report of a result set, from records alone: it evaluates no expression and judges nothing.
//
// A report is made in steps:
//
//  1. Build reads record.Results, record.Environment and the runs, and makes a Document: titled sections of paragraphs,
//     lists, tables, charts and footnotes, with every number already formatted and every absent one explained.
//  2. A writer renders the Document: WriteMarkdown, WriteText (for a terminal), and package html. Each form is a writer of the
//     same Document.
//
// A section is one file and one line in the list of sections in build.go: a function from the builder to the sections that
// it contributes, none if there is nothing to say.
//
// Names, reasons and outputs of programs come from outside. They stay plain text in the Document; escaping is the
// writer's job alone.
package report
