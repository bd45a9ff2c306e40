package record

import (
	"bufio"
	"fmt"
	"path/filepath"

	"github.com/goccy/go-json"
)

// Results reads results.json. Cells and verdicts are decoded one by one: of a large set their text is hundreds of megabytes,
// and is never in memory as a whole.
func (s *Set) Results() (*Results, error) { return s.results(decodeList[Cell]) }

// Judged reads results.json without its cells, which are most of it.
func (s *Set) Judged() (*Results, error) { return s.results(passOver) }

func (s *Set) results(cells func(*json.Decoder, *[]Cell) error) (*Results, error) {
	path := s.Path("results.json")
	f, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	defer f.Close()
	r, err := decodeResults(json.NewDecoder(bufio.NewReaderSize(f, 1<<16)), cells)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; planrun report %s makes the file again", path, err, filepath.Dir(path))
	}
	return versioned(r, nil)
}

func decodeResults(d *json.Decoder, cells func(*json.Decoder, *[]Cell) error) (*Results, error) {
	r := &Results{}
	if err := opens(d, '{'); err != nil {
		return nil, err
	}
	head := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch key {
		case "cells":
			err = cells(d, &r.Cells)
		case "verdicts":
			err = decodeList(d, &r.Verdicts)
		default:
			var raw json.RawMessage
			err = d.Decode(&raw)
			head[key.(string)] = raw // a key of an object is text
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, r)
}

// decodeList decodes a list element by element.
func decodeList[T any](d *json.Decoder, into *[]T) error {
	if err := opens(d, '['); err != nil {
		return err
	}
	*into = []T{}
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		*into = append(*into, v)
	}
	_, err := d.Token()
	return err
}

// passOver reads cells and keeps none.
func passOver(d *json.Decoder, _ *[]Cell) error {
	if err := opens(d, '['); err != nil {
		return err
	}
	var one json.RawMessage
	for d.More() {
		if err := d.Decode(&one); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// opens reads the beginning of an object or a list.
func opens(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%v where %v was to be", t, want)
	}
	return err
}
