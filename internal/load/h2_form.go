package load

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// How the header of the next request is encoded.
const (
	encodeFirst  = iota // its fields are added to the server's dynamic table
	encodeLater         // they are indices into it
	encodeShrink        // plain, after the table is given up because the server wants a smaller one
	encodePlain         // without a table
)

// An h2Form is a request for HTTP/2.
type h2Form struct {
	path  []byte // :path as a literal that is not added to the table, if paths vary
	frame []byte // HEADERS in the encoding encodeLater, with room for the id; nil if it takes several frames
}

// h2Blocks are the header of a load's requests in three encodings. They are equal for all requests but for the path, which
// stands between their two parts if it varies.
type h2Blocks struct{ first, later, plain [2][]byte }

// encode writes the requests for HTTP/2.
func (j *job) encode() {
	fields := [2][]hpack.HeaderField{{{Name: ":method", Value: j.Method}, {Name: ":scheme", Value: j.Scheme}, {Name: ":authority", Value: j.Host}}}
	if j.SpreadPath == "" {
		fields[0] = append(fields[0], hpack.HeaderField{Name: ":path", Value: j.forms[0].path})
	}
	for _, h := range j.Headers {
		fields[1] = append(fields[1], hpack.HeaderField{Name: strings.ToLower(h.Name), Value: h.Value})
	}
	if j.hasBody() {
		fields[1] = append(fields[1], hpack.HeaderField{Name: "content-length", Value: fmt.Sprint(len(j.Body))})
	}
	var buf bytes.Buffer
	e := hpack.NewEncoder(&buf)
	write := func() (out [2][]byte) {
		for i, part := range fields {
			buf.Reset()
			for _, f := range part {
				_ = e.WriteField(f) // a buffer takes everything
			}
			out[i] = slices.Clone(buf.Bytes())
		}
		return out
	}
	b := &j.blocks
	b.first, b.later = write(), write()
	again := write()
	stable := slices.EqualFunc(b.later[:], again[:], bytes.Equal)
	e = hpack.NewEncoder(&buf)
	e.SetMaxDynamicTableSizeLimit(0)
	_ = e.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"}) // says the new size
	b.plain = write()
	if !stable { // they do not fit into the table together
		b.first, b.later = b.plain, b.plain
	}
	for _, f := range j.forms {
		if j.SpreadPath != "" {
			buf.Reset()
			_ = e.WriteField(hpack.HeaderField{Name: ":path", Value: f.path})
			f.h2.path = slices.Clone(buf.Bytes())
		}
		frame := j.appendHeader(make([]byte, frameHead), f, &b.later)
		if n := len(frame) - frameHead; n <= maxFrame {
			appendFrame(frame[:0], n, frameHeaders, flagEndHeaders|f.endFlag(), 0)
			f.h2.frame = frame
		}
		f.bytes = len(frame) + len(f.body)
	}
}

func (j *job) appendHeader(b []byte, f *form, parts *[2][]byte) []byte {
	return append(append(append(b, parts[0]...), f.h2.path...), parts[1]...)
}

// endFlag is set in a header that no body follows.
func (f *form) endFlag() byte {
	if len(f.body) == 0 {
		return flagEnd
	}
	return 0
}

// writeHeader writes a request's header in whatever encoding it has to have, in as many frames as it takes.
func (h *h2) writeHeader(r *request) {
	j := h.c.p.job
	block := h.long[:0]
	parts, next := &j.blocks.plain, encodePlain
	switch h.encoding {
	case encodeFirst:
		parts, next = &j.blocks.first, encodeLater
	case encodeLater:
		parts, next = &j.blocks.later, encodeLater
	case encodeShrink:
		block = append(block, 0x20) // the size of the table is 0
	}
	h.encoding = next
	block = j.appendHeader(block, r.form, parts)
	h.long = block
	kind, flags := byte(frameHeaders), r.form.endFlag()
	for {
		n := min(len(block), maxFrame)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		h.c.write(appendFrame(h.scratch[:0], n, kind, flags, r.h2.id))
		h.c.write(block[:n])
		if block = block[n:]; len(block) == 0 {
			return
		}
		kind, flags = frameContinuation, 0
	}
}
