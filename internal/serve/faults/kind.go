package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// A kind is a type of toxic: one file and one line in kinds.
type kind struct {
	name     string
	parse    func(attributes json.RawMessage) (toxic, error)
	measured func(Effect) float64 // nil: it measures nothing beside what is counted
}

// kinds are in the order in which those in force together act on a chunk: what lets nothing pass, what is far, what is
// narrow, and what cuts. So what cuts counts the bytes that are passed on.
var kinds = []kind{refuseKind, blackholeKind, stallKind, timeoutKind, latencyKind, bandwidthKind, sliceKind, limitDataKind, resetAfterKind, slowCloseKind}

// A toxic is what a control message asked for. It makes the state that each direction of a connection needs of its own;
// nil leaves what passes alone. It may be a meeter and a doorkeeper too.
type toxic interface {
	effect(h *hold) effect
}

// An effect is a toxic at work in one direction of one connection: a passer, an ender, or both.
type effect any

// A passer is an effect on what passes.
type passer interface {
	// pass does with the chunk what the toxic does: it may wait (hold.until), change it, leave it out, and gives what
	// becomes of it to next. The time of a chunk is when it came here; what is passed on has the time at which it was due.
	pass(c *stream.StreamChunk, next func(*stream.StreamChunk))
}

// An ender is an effect on the end of a stream, which came at a time; it returns when it is passed on.
type ender interface {
	end(at time.Time) time.Time
}

// A meeter is told of each connection that it acts on, when the later of the two begins. It must not block.
type meeter interface {
	meet(f *fault, p *pair)
}

// A doorkeeper says what becomes of new connections.
type doorkeeper interface{ door() door }

type door int

const (
	open    door = iota
	swallow      // they are accepted, and what they send is swallowed
	reset        // they are accepted and reset
	shut         // nothing listens
)

// parse checks a toxic and finds the place of its kind.
func parse(t Toxic) (place int, made toxic, err error) {
	for i, k := range kinds {
		if k.name == t.Type {
			if made, err = k.parse(t.Attributes); err != nil {
				err = fmt.Errorf("toxic %s: %w", t.Type, err)
			}
			return i, made, err
		}
	}
	return 0, nil, fmt.Errorf("toxic type %q: there are %s", t.Type, strings.Join(Types(), ", "))
}

// Types are the names of the kinds of toxics, in the order in which they act.
func Types() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// attributes is the parse of a kind whose attributes check themselves.
func attributes[T interface {
	toxic
	check() error
}](body json.RawMessage) (toxic, error) {
	var t T
	if len(body) > 0 {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&t); err != nil {
			return nil, fmt.Errorf("attributes: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("attributes: more than one value")
		}
	}
	return t, t.check()
}

// mean is a sum of nanoseconds as milliseconds, on average.
func mean(e Effect) float64 { return float64(e.Sum) / float64(e.Of) / float64(time.Millisecond) }

// each is a plain mean.
func each(e Effect) float64 { return float64(e.Sum) / float64(e.Of) }
