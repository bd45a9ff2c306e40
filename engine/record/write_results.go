package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// WriteResults writes results.json. Cells and verdicts stand a line each, and are encoded one by one: of a large set they
// are hundreds of megabytes.
func (s *Set) WriteResults(r *Results) error {
	return replaceBy(s.Path("results.json"), func(w io.Writer) error { return encodeResults(w, r) })
}

func encodeResults(w io.Writer, r *Results) error {
	head := *r
	head.Cells, head.Verdicts = []Cell{}, []Judgement{}
	text, err := json.MarshalIndent(&head, "", " ")
	if err != nil {
		return err
	}
	for _, list := range []struct {
		key    string
		n      int
		encode func(i int) ([]byte, error)
	}{
		{"cells", len(r.Cells), func(i int) ([]byte, error) { return encode(&r.Cells[i]) }},
		{"verdicts", len(r.Verdicts), func(i int) ([]byte, error) { return encode(&r.Verdicts[i]) }},
	} {
		before, after, ok := bytes.Cut(text, fmt.Appendf(nil, "\n %q: []", list.key))
		if !ok {
			return fmt.Errorf("results without %s", list.key)
		}
		text = after
		if err := encodeList(w, fmt.Appendf(slices.Clip(before), "\n %q: [", list.key), list.n, list.encode); err != nil {
			return err
		}
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// encodeList writes what stands before a list, and the list, an element a line.
func encodeList(w io.Writer, before []byte, n int, encode func(i int) ([]byte, error)) error {
	type element struct {
		text []byte
		err  error
	}
	sep := append(before, "\n  "...)
	for e := range inOrder(n, func(i int) element { b, err := encode(i); return element{b, err} }) {
		if e.err != nil {
			return e.err
		}
		for _, part := range [][]byte{sep, e.text} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		sep = append(sep[:0], ",\n  "...)
	}
	end := "\n ]"
	if n == 0 {
		end = string(before) + "]"
	}
	_, err := io.WriteString(w, end)
	return err
}
