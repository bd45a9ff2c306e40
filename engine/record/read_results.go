package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
)

// Results reads results.json. Cells and verdicts are decoded one by one: of a large set their text is hundreds of megabytes,
// and is never in memory as a whole.
func (s *Set) Results() (*Results, error) { return s.results(decodeCells) }

// Judged reads results.json without its cells, which are most of it.
func (s *Set) Judged() (*Results, error) { return s.results(passOver) }

func (s *Set) results(cells func(*jsontext.Decoder, *[]Cell) error) (*Results, error) {
	path := s.Path("results.json")
	f, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	defer f.Close()
	r, err := decodeResults(jsontext.NewDecoder(bufio.NewReaderSize(f, 1<<16), s.reader.options), cells)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; planrun report %s makes the file again", path, err, filepath.Dir(path))
	}
	return versioned(r, nil)
}

func decodeResults(d *jsontext.Decoder, cells func(*jsontext.Decoder, *[]Cell) error) (*Results, error) {
	r := &Results{}
	if err := opens(d, jsontext.KindBeginObject); err != nil {
		return nil, err
	}
	head := map[string]json.RawMessage{}
	for d.PeekKind() == jsontext.KindString {
		key, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		switch name := key.String(); name {
		case "cells":
			err = cells(d, &r.Cells)
		case "verdicts":
			err = decodeEach(d, &r.Verdicts, func(*Judgement) {})
		default:
			var raw json.RawMessage
			err = decodeNext(d, &raw)
			head[name] = raw
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, r)
}

// decodeEach decodes a list element by element, and does something with each.
func decodeEach[T any](d *jsontext.Decoder, into *[]T, with func(*T)) error {
	if err := opens(d, jsontext.KindBeginArray); err != nil {
		return err
	}
	*into = []T{}
	for more(d) {
		var v T
		if err := decodeNext(d, &v); err != nil {
			return err
		}
		with(&v)
		*into = append(*into, v)
	}
	_, err := d.ReadToken()
	return err
}

// decodeCells decodes cells, and lets the values of each have no more memory than they need.
func decodeCells(d *jsontext.Decoder, into *[]Cell) error {
	return decodeEach(d, into, (*Cell).compact)
}

// compact puts the values of all runs side by side: a decoder leaves each few of them room for as many again.
func (c *Cell) compact() {
	n := 0
	for _, metrics := range c.Metrics {
		for _, v := range metrics.All() {
			n += len(v.Runs)
		}
	}
	all := make([]float64, 0, n)
	for _, metrics := range c.Metrics {
		if metrics == nil {
			continue
		}
		for i := range metrics.values {
			if v := &metrics.values[i]; v.Runs != nil {
				from := len(all)
				all = append(all, v.Runs...)
				v.Runs = all[from:len(all):len(all)]
			}
		}
	}
}

// passOver reads cells and keeps none.
func passOver(d *jsontext.Decoder, _ *[]Cell) error {
	if err := opens(d, jsontext.KindBeginArray); err != nil {
		return err
	}
	for more(d) {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// more reports whether another element of a list follows.
func more(d *jsontext.Decoder) bool {
	k := d.PeekKind()
	return k != jsontext.KindEndArray && k != jsontext.KindInvalid
}

// opens reads the beginning of an object or a list.
func opens(d *jsontext.Decoder, want jsontext.Kind) error {
	t, err := d.ReadToken()
	if err == nil && t.Kind() != want {
		err = fmt.Errorf("%v where %v was to be", t.Kind(), want)
	}
	return err
}
