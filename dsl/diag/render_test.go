package diag_test

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl/diag"
)

func TestRender(t *testing.T) {
	pos := func(line, col int) diag.Pos { return diag.Pos{File: "p.yaml", Line: line, Col: col} }
	tests := []struct {
		name, src string
		problem   diag.Problem
		want      string
	}{
		{"a word", "a: 1\nfor: soon\n", diag.Problem{Pos: pos(2, 6), End: pos(2, 10), Msg: "want a duration", Hint: "write 5s"},
			"p.yaml:2:6: want a duration; write 5s\n    2 | for: soon\n      |      ^^^^\n"},
		{"a warning, one character", "a: 1\n", diag.Problem{Pos: pos(1, 1), Msg: "odd", Warning: true},
			"p.yaml:1:1: warning: odd\n    1 | a: 1\n      | ^\n"},
		{"a tab stays a tab", "a:\tb c\n", diag.Problem{Pos: pos(1, 6), Msg: "x"},
			"p.yaml:1:6: x\n    1 | a:\tb c\n      |   \t  ^\n"},
		{"wide runes take two columns", "日本: 😀x\n", diag.Problem{Pos: pos(1, 6), Msg: "x"},
			"p.yaml:1:6: x\n    1 | 日本: 😀x\n      |         ^\n"},
		{"combining runes take none", "e\u0301: x\n", diag.Problem{Pos: pos(1, 5), Msg: "x"},
			"p.yaml:1:5: x\n    1 | e\u0301: x\n      |    ^\n"},
		{"past the end", "ab", diag.Problem{Pos: pos(1, 3), Msg: "x"},
			"p.yaml:1:3: x\n    1 | ab\n      |   ^\n"},
		{"a line that does not exist", "ab", diag.Problem{Pos: pos(7, 3), Msg: "x"}, "p.yaml:7:3: x\n"},
		{"no place", "ab", diag.Problem{Msg: "x"}, "-: x\n"},
		{"a byte order mark and CRLF", "\ufeffab\r\ncd\r\n", diag.Problem{Pos: pos(1, 2), Msg: "x"},
			"p.yaml:1:2: x\n    1 | ab\n      |  ^\n"},
		{"control characters are not printed", "a\x1b[31mb", diag.Problem{Pos: pos(1, 7), Msg: "x"},
			"p.yaml:1:7: x\n    1 | a\ufffd[31mb\n      |       ^\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := diag.Render(&b, diag.List{&tt.problem}, map[string][]byte{"p.yaml": []byte(tt.src)}); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), tt.want)
			}
		})
	}
}

func TestRenderLongLine(t *testing.T) {
	line := strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500)
	p := &diag.Problem{Pos: diag.Pos{File: "p", Line: 1, Col: 501}, Msg: "x"}
	var b strings.Builder
	if err := diag.Render(&b, diag.List{p}, map[string][]byte{"p": []byte(line)}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(b.String(), "\n")
	if len(rows[1]) > 170 {
		t.Errorf("the line is %d wide", len(rows[1]))
	}
	if rows[1][strings.Index(rows[2], "^")] != 'X' {
		t.Errorf("the caret is not under X:\n%s", b.String())
	}
}

func TestSort(t *testing.T) {
	at := func(file string, line, col int) *diag.Problem {
		return &diag.Problem{Pos: diag.Pos{File: file, Line: line, Col: col}, Msg: "m"}
	}
	l := diag.List{at("b", 1, 1), at("a", 2, 3), at("a", 2, 1), at("x", 1, 1), at("a", 2, 3)}
	l.Sort([]string{"a", "b"})
	want := "a:2:1: m\na:2:3: m\nb:1:1: m\nx:1:1: m"
	if l.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", l.Error(), want)
	}
}

func TestErr(t *testing.T) {
	warning := diag.List{{Msg: "w", Warning: true}}
	if warning.Err() != nil || diag.List(nil).Err() != nil {
		t.Error("a warning is no error")
	}
	if (diag.List{{Msg: "e"}}).Err() == nil {
		t.Error("a problem is an error")
	}
}
