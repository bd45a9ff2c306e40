package published

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/dsl/diag"
)

// header is the first line of a file of figures.
var header = []string{"scenario", "target", "metric", "statistic", "value"}

const (
	scenarioColumn = iota
	targetColumn
	metricColumn
	statisticColumn
	valueColumn
)

// A Figure is one line of a file.
type Figure struct {
	Scenario, Target, Metric, Statistic string
	Value                               Printed

	at, end [5]diag.Pos // of each field
}

// key is what there can be only one of.
func (f *Figure) key() [4]string {
	return [4]string{f.Scenario, f.Target, f.Metric, f.Statistic}
}

// Read makes figures of a file's content. Every problem of its form is told in one pass; lines that have one are left out.
func Read(file string, content []byte) ([]Figure, diag.List) {
	r := &reader{file: file}
	if !r.text(content) {
		return nil, r.list
	}
	r.csv = csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	r.csv.FieldsPerRecord, r.csv.Comment = -1, '#'
	r.lines = bytes.Split(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\n"))
	r.read()
	return r.out, r.list
}

type reader struct {
	file  string
	csv   *csv.Reader
	lines [][]byte
	list  diag.List
	out   []Figure
}

// text reports whether the content is a text that can be read.
func (r *reader) text(content []byte) bool {
	start := diag.Pos{File: r.file, Line: 1, Col: 1}
	switch {
	case len(content) > dsl.MaxBytes:
		r.list.Addf(start, "the file has more than %d bytes", dsl.MaxBytes).Hint = "a file of figures holds what was published, not every sample"
	case bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")):
		r.list.Addf(start, "the file is UTF-16").Hint = "save it as CSV in UTF-8"
	case !utf8.Valid(content):
		for i, line := range bytes.Split(content, []byte("\n")) {
			if !utf8.Valid(line) {
				col := 1
				for len(line) > 0 {
					c, size := utf8.DecodeRune(line)
					if c == utf8.RuneError && size == 1 {
						break
					}
					line, col = line[size:], col+1
				}
				r.list.Addf(diag.Pos{File: r.file, Line: i + 1, Col: col}, "this is not UTF-8").Hint = "save the file as CSV in UTF-8"
				break
			}
		}
	}
	return r.list == nil
}

func (r *reader) read() {
	first, seen := true, map[[4]string]*Figure{}
	for {
		row, err := r.csv.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.malformed(err)
			first = false
			continue
		}
		if first {
			first = false
			if headed, readable := r.header(row); !readable {
				return
			} else if headed {
				continue
			}
		}
		f, ok := r.figure(row)
		if !ok {
			continue
		}
		if before := seen[f.key()]; before != nil {
			r.say(&f, statisticColumn, "a second %s of %s of %s on %s", f.Statistic, f.Metric, f.Scenario, f.Target).Hint = fmt.Sprintf("the first is on line %d; remove one", before.at[0].Line)
			continue
		}
		seen[f.key()] = &f
		r.out = append(r.out, f)
	}
	if len(r.out) == 0 && r.list == nil {
		r.list.Addf(diag.Pos{File: r.file, Line: 1, Col: 1}, "the file has no figures").Hint = "write a line for each, below " + strings.Join(header, ",")
	}
}

// malformed reports what is no CSV. Reading goes on with the next line, as far as there is one.
func (r *reader) malformed(err error) {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		r.list.Addf(diag.Pos{File: r.file, Line: 1, Col: 1}, "reading it: %v", err)
		return
	}
	x := r.list.Addf(r.pos(p.Line, p.Column), "this is no CSV: %v", p.Err)
	x.Hint = `write a field that holds a quote or a comma in quotes, and each quote in it twice: "a ""b"" c"`
	if p.StartLine != p.Line {
		x.Hint += fmt.Sprintf("; the field's line begins on line %d", p.StartLine)
	}
}

// header checks the first line. headed is false if it holds figures already, readable is false if nothing that follows
// could be understood.
func (r *reader) header(row []string) (headed, readable bool) {
	line, _ := r.csv.FieldPos(0)
	at := r.pos(line, 1)
	want := "the header is " + strings.Join(header, ",")
	if slices.Equal(row, header) {
		return true, true
	}
	for _, sep := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
		if len(row) == 1 && strings.Count(row[0], sep.char) >= len(header)-1 {
			r.list.Addf(at, "the fields are separated by %s", sep.name).Hint = "separate them by commas, and write numbers with a decimal point"
			return false, false
		}
	}
	if len(row) != len(header) {
		p := r.list.Addf(at, "the first line is not the header of a file of figures")
		if p.Hint = want; strings.Contains(strings.Join(row, ""), "\r") {
			p.Hint = "end lines with a line feed; " + want
		}
		return false, false
	}
	if number.MatchString(row[valueColumn]) {
		r.list.Addf(at, "the file has no header").Hint = "let its first line be " + strings.Join(header, ",")
		return false, true
	}
	for i, name := range row {
		if name != header[i] {
			line, col := r.csv.FieldPos(i)
			r.list.Addf(r.pos(line, col), "column %d is called %q, not %s", i+1, name, header[i]).Hint = want
		}
	}
	return true, true
}

var (
	number   = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)
	withUnit = regexp.MustCompile(`^[+-]?[0-9.]+ *[^0-9., eE+-][^0-9,]*$`)
	commas   = regexp.MustCompile(`^[+-]?[0-9]{1,3}([,_' ][0-9]{3})+(\.[0-9]+)?$`)
	singles  = regexp.MustCompile(`^run([1-9][0-9]{0,4})$`)
)

// statistics that a figure can be, beside those of single runs.
var statistics = []string{"median", "min", "max", "sum", "mean"}

// figure makes a figure of a line.
func (r *reader) figure(row []string) (f Figure, ok bool) {
	line, _ := r.csv.FieldPos(0)
	if len(row) != len(header) {
		p := r.list.Addf(r.pos(line, 1), "the line has %d fields, not %d", len(row), len(header))
		if p.Hint = "they are " + strings.Join(header, ","); len(row) > len(header) {
			p.Hint += "; write numbers without commas, and a name that holds one in quotes"
		}
		return f, false
	}
	f = Figure{Scenario: row[0], Target: row[1], Metric: row[2], Statistic: row[3]}
	for i := range row {
		l, c := r.csv.FieldPos(i)
		f.at[i] = r.pos(l, c)
		f.end[i] = f.at[i]
		f.end[i].Col += utf8.RuneCountInString(row[i])
	}
	bad := len(r.list)
	for i, name := range row[:valueColumn] {
		if name == "" {
			r.say(&f, i, "the %s is empty", header[i]).Hint = "every line says its " + strings.Join(header, ", its ")
		}
	}
	if s := f.Statistic; s != "" && !slices.Contains(statistics, s) && !singles.MatchString(s) {
		hint := dsl.Suggest(s, append(slices.Clone(statistics), "run1"), "statistics")
		r.say(&f, statisticColumn, "unknown statistic %q", s).Hint = hint + " (run1, run2, ... are single runs)"
	}
	if why, hint := f.Value.parse(row[valueColumn]); why != "" {
		r.say(&f, valueColumn, "%s", why).Hint = hint
	}
	return f, len(r.list) == bad
}

// say adds a problem with one field of a line.
func (r *reader) say(f *Figure, column int, format string, args ...any) *diag.Problem {
	p := r.list.Addf(f.at[column], format, args...)
	p.End = f.end[column]
	return p
}

// pos is a place given in bytes as one in characters.
func (r *reader) pos(line, col int) diag.Pos {
	p := diag.Pos{File: r.file, Line: max(line, 1), Col: max(col, 1)}
	if line >= 1 && line <= len(r.lines) {
		text := r.lines[line-1]
		p.Col = utf8.RuneCount(text[:min(max(col-1, 0), len(text))]) + 1
	}
	return p
}
