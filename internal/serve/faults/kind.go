package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A kind is a type of toxic: one file and one line in kinds.
type kind struct {
	name  string
	parse func(attributes json.RawMessage) (toxic, error)
}

// kinds are in the order in which those in force together act on a chunk.
var kinds = []kind{latencyKind}

// A toxic is what a control message asked for. It makes the state that each connection needs of its own; number counts
// the relay's connections.
type toxic interface {
	effect(number uint64) effect
}

// An effect is a toxic at work in one direction of one connection.
type effect interface {
	// pass does with the chunk what the toxic does: it may wait (hold.until), change it, leave it out, and gives what
	// becomes of it to next.
	pass(h *hold, c *stream.StreamChunk, next func(*stream.StreamChunk))
}

// parse checks a toxic and finds the place of its kind.
func parse(t Toxic) (place int, made toxic, err error) {
	var names []string
	for i, k := range kinds {
		if k.name == t.Type {
			if made, err = k.parse(t.Attributes); err != nil {
				err = fmt.Errorf("toxic %s: %w", t.Type, err)
			}
			return i, made, err
		}
		names = append(names, k.name)
	}
	return 0, nil, fmt.Errorf("toxic type %q: there is %s", t.Type, strings.Join(names, ", "))
}

// decode reads attributes; one that does not exist is an error.
func decode(attributes json.RawMessage, into any) error {
	if len(attributes) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(attributes))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("attributes: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("attributes: more than one value")
	}
	return nil
}
