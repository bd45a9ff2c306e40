package load

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// An answer is what a header block says.
type answer struct {
	status int   // 0 if it has none
	length int64 // content-length; -1 if it has none
	by     string
	given  bool
	bad    string // why it is malformed; "" if it is not

	fields bool // one that is not a pseudo-header has come
	size   int  // of the list so far
}

// cached is an answer and the bytes that said it. They say the same again as long as the decoder's dynamic table stays the
// same.
type cached struct {
	block  []byte
	answer answer
}

const (
	maxCached      = 8   // answers on a connection: a power of two
	maxCachedBlock = 512 // bytes
)

var blockSeed = maphash.MakeSeed()

// headers handles HEADERS.
func (h *h2) headers(id uint32, flags byte, payload []byte) {
	block, ok := h.unpad(flags, payload)
	if !ok {
		return
	}
	if flags&flagPriority != 0 {
		if len(block) < 5 {
			h.die(codeFrameSize, "HEADERS with a priority in %d bytes", len(payload))
			return
		}
		block = block[5:]
	}
	ends := flags&flagEnd != 0
	if flags&flagEndHeaders == 0 {
		if id == 0 {
			h.die(codeProtocol, "HEADERS on stream 0")
			return
		}
		h.block, h.blockOf, h.blockEnd = append(h.block[:0], block...), id, ends
		return
	}
	h.header(id, ends, block)
}

// continuation goes on with a header.
func (h *h2) continuation(id uint32, flags byte, payload []byte) {
	if h.blockOf == 0 {
		h.die(codeProtocol, "CONTINUATION on stream %d without HEADERS", id)
		return
	}
	h.block = append(h.block, payload...)
	if len(h.block) > maxHead {
		h.die(codeCalm, "a header is longer than %d bytes", maxHead)
		return
	}
	if flags&flagEndHeaders != 0 {
		h.blockOf = 0
		h.header(id, h.blockEnd, h.block)
	}
}

// header takes a whole header block: an answer's or its trailers.
func (h *h2) header(id uint32, ends bool, block []byte) {
	a, err := h.decode(block)
	if err != nil {
		h.die(codeCompression, "a header block: %v", err)
		return
	}
	r := h.streams.find(id)
	if r == nil {
		h.stray("HEADERS", id)
		return
	}
	r.began = true
	if s := &r.h2; a.bad != "" {
		h.spoil(r, codeProtocol, ends, "%s", a.bad)
		return
	} else if s.headed {
		if !ends || a.status != 0 {
			h.spoil(r, codeProtocol, ends, "a second header that is no trailer")
			return
		}
	} else if !h.begins(r, a, ends) {
		return
	}
	if ends {
		h.finish(r)
	}
}

// begins takes an answer's header; false if the final one is still to come, or never will.
func (h *h2) begins(r *request, a *answer, ends bool) bool {
	s := &r.h2
	switch {
	case a.status == 0:
		h.spoil(r, codeProtocol, ends, "a header without :status")
		return false
	case a.status < 200:
		switch s.interim++; {
		case a.status == 101:
			h.spoil(r, codeProtocol, ends, "status 101, which HTTP/2 does not have")
		case ends:
			h.spoil(r, codeProtocol, ends, "the stream ends with status %d", a.status)
		case s.interim > maxInterim:
			h.spoil(r, codeProtocol, ends, "more than %d interim responses", maxInterim)
		}
		return false
	}
	r.status, s.headed = a.status, true
	if a.given {
		r.by, r.byGiven = append(r.by[:0], a.by...), true
	}
	s.bodyless = r.form.isHead || a.status == 204 || a.status == 304
	if !s.bodyless {
		s.left = a.length
	}
	return true
}

// decode gives what a block says, which is valid until the next one.
func (h *h2) decode(block []byte) (*answer, error) {
	if h.cached == nil {
		h.cached = make([]cached, maxCached)
	}
	slot := &h.cached[maphash.Bytes(blockSeed, block)&(maxCached-1)]
	if len(block) > 0 && bytes.Equal(slot.block, block) {
		return &slot.answer, nil
	}
	h.got = answer{length: -1}
	if _, err := h.decoder.Write(block); err != nil {
		return nil, err
	}
	if err := h.decoder.Close(); err != nil {
		return nil, err
	}
	if !h.steady(block) {
		for i := range h.cached {
			h.cached[i].block = h.cached[i].block[:0]
		}
	} else if len(block) <= maxCachedBlock {
		slot.block, slot.answer = append(slot.block[:0], block...), h.got
	}
	return &h.got, nil
}

// field takes one field from the decoder.
func (h *h2) field(f hpack.HeaderField) {
	a := &h.got
	if a.size += int(f.Size()); a.size > maxHead && a.bad == "" {
		a.bad = fmt.Sprintf("a header of more than %d bytes", maxHead)
	}
	if a.bad != "" {
		return
	}
	if err := a.take(f.Name, f.Value); err != nil {
		a.bad = err.Error()
	}
	if by := h.c.p.job.By; len(f.Name) == len(by) && strings.EqualFold(f.Name, by) {
		a.by, a.given = f.Value, true
	}
}

// take takes one field; what it must not be is RFC 9113, sections 8.2 and 8.3.
func (a *answer) take(name, value string) error {
	if strings.HasPrefix(name, ":") {
		if name != ":status" || a.status != 0 || a.fields {
			return fmt.Errorf("the pseudo-header %.40q where it cannot be", name)
		}
		for _, c := range []byte(value) {
			if c < '0' || c > '9' || len(value) != 3 {
				return fmt.Errorf("status %.40q", value)
			}
			a.status = 10*a.status + int(c-'0')
		}
		if a.status < 100 {
			return fmt.Errorf("status %.40q", value)
		}
		return nil
	}
	a.fields = true
	if name == "" {
		return errors.New("a header without a name")
	}
	for _, c := range []byte(name) {
		if !tokenByte[c] || c >= 'A' && c <= 'Z' {
			return fmt.Errorf("header name %.60q", name)
		}
	}
	for _, c := range []byte(value) {
		if c == 0 || c == '\r' || c == '\n' {
			return fmt.Errorf("a control character in the header %s", name)
		}
	}
	switch name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return fmt.Errorf("the header %s, which HTTP/2 does not have", name)
	case "content-length":
		n, err := contentLength([]byte(value))
		if err != nil {
			return err
		}
		if a.length >= 0 && n != a.length {
			return errors.New("two different content-lengths")
		}
		a.length = n
	}
	return nil
}

// entrySize is the least that an entry takes in a dynamic table (RFC 7541, section 4.1).
const entrySize = 32

// steady tells whether a block, which was decoded without an error, left the dynamic table as it was. It keeps the table's
// size.
func (h *h2) steady(block []byte) bool {
	steady := true
	for len(block) > 0 {
		prefix, texts := 4, 1
		switch first := block[0]; {
		case first&0x80 != 0: // indexed
			prefix, texts = 7, 0
		case first&0xc0 == 0x40: // added to the table
			prefix = 6
			if h.table >= entrySize {
				return false
			}
		case first&0xe0 == 0x20: // a new size of the table
			var size uint64
			size, block = hpackInt(5, block)
			if size != h.table {
				h.table, steady = size, false
			}
			continue
		}
		var n uint64
		if n, block = hpackInt(prefix, block); n == 0 {
			texts++ // the name too
		}
		for range texts {
			n, block = hpackInt(7, block)
			if n > uint64(len(block)) {
				return false
			}
			block = block[n:]
		}
	}
	return steady
}

// hpackInt reads a number with a prefix of some bits (RFC 7541, section 5.1).
func hpackInt(bits int, b []byte) (n uint64, rest []byte) {
	if len(b) == 0 {
		return 0, nil
	}
	full := uint64(1)<<bits - 1
	n = uint64(b[0]) & full
	b = b[1:]
	if n < full {
		return n, b
	}
	for shift := 0; len(b) > 0; shift += 7 {
		c := b[0]
		b = b[1:]
		if shift < 63 {
			n += uint64(c&0x7f) << shift
		}
		if c < 0x80 {
			break
		}
	}
	return n, b
}
