package load

import (
	"encoding/binary"
	"fmt"
)

// Error codes (RFC 9113, section 7).
const (
	codeNone = iota
	codeProtocol
	codeInternal
	codeFlow
	codeSettings
	codeClosed
	codeFrameSize
	codeRefused
	codeCancel
	codeCompression
	codeConnect
	codeCalm
	codeSecurity
	codeHTTP11
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func codeName(code uint32) string {
	if code < uint32(len(codeNames)) {
		return codeNames[code]
	}
	return fmt.Sprintf("error %#x", code)
}

// die ends the connection because of what the server did.
func (h *h2) die(code uint32, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	b := appendFrame(nil, 8+len(reason), frameGoAway, 0, 0)
	b = binary.BigEndian.AppendUint32(b, 0) // no stream of the server's was handled, because it has none
	b = binary.BigEndian.AppendUint32(b, code)
	h.c.write(append(b, reason...))
	h.c.flush()
	h.c.fail(Protocol, "%s", reason)
}

// wasReset handles RST_STREAM.
func (h *h2) wasReset(id uint32, payload []byte) {
	if len(payload) != 4 {
		h.die(codeFrameSize, "RST_STREAM of %d bytes", len(payload))
		return
	}
	if id&1 == 0 || id >= h.next {
		h.die(codeProtocol, "RST_STREAM of stream %d, which was not opened", id)
		return
	}
	r := h.streams.find(id)
	if r == nil {
		return
	}
	h.forget(r)
	if code := binary.BigEndian.Uint32(payload); code == codeRefused {
		h.c.refused(r)
	} else {
		h.c.failed(r, Reset, "the server reset the stream: %s", codeName(code))
	}
}

// goneAway handles GOAWAY: streams above the last id were not processed and are not going to be.
func (h *h2) goneAway(id uint32, payload []byte) {
	switch {
	case id != 0:
		h.die(codeProtocol, "GOAWAY on stream %d", id)
		return
	case len(payload) < 8:
		h.die(codeFrameSize, "GOAWAY of %d bytes", len(payload))
		return
	}
	c := h.c
	h.last = min(h.last, binary.BigEndian.Uint32(payload)&maxStream)
	c.said = "after GOAWAY " + codeName(binary.BigEndian.Uint32(payload[4:]))
	if text := payload[8:]; len(text) > 0 {
		c.said += fmt.Sprintf(" %.100q", text)
	}
	c.p.sink.goneAway(c.p.now)
	c.retire()
	var left []*request
	for _, r := range h.streams.slots {
		if r != nil && r.h2.id > h.last {
			left = append(left, r)
		}
	}
	for _, r := range left {
		h.forget(r)
		c.p.leave(r)
	}
	for _, r := range left {
		c.p.away(r)
	}
	c.goOn()
}

// ping answers.
func (h *h2) ping(id uint32, flags byte, payload []byte) {
	switch {
	case id != 0:
		h.die(codeProtocol, "PING on stream %d", id)
	case len(payload) != 8:
		h.die(codeFrameSize, "PING of %d bytes", len(payload))
	case flags&flagAck == 0 && h.mayAnswer():
		h.c.write(append(appendFrame(h.scratch[:0], 8, framePing, flagAck, 0), payload...))
	}
}

// maxAcks bounds what is kept for a server that asks and does not read the answers.
const maxAcks = 10_000

// mayAnswer is false after a connection error.
func (h *h2) mayAnswer() bool {
	if !h.c.p.wire.pending(h.c) {
		h.acks = 0
	}
	if h.acks++; h.acks > maxAcks {
		h.die(codeCalm, "more than %d frames to answer, and the server reads none of it", maxAcks)
		return false
	}
	return true
}
