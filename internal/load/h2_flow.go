package load

import (
	"encoding/binary"
	"slices"
)

// Settings (RFC 9113, section 6.5.2).
const (
	settingTable   = 1
	settingPush    = 2
	settingStreams = 3
	settingWindow  = 4
	settingFrame   = 5
	settingHeaders = 6
)

// settings handles SETTINGS; after the first ones requests may be sent.
func (h *h2) settings(id uint32, flags byte, payload []byte) {
	c := h.c
	switch {
	case id != 0:
		h.die(codeProtocol, "SETTINGS on stream %d", id)
		return
	case len(payload)%6 != 0 || flags&flagAck != 0 && len(payload) > 0:
		h.die(codeFrameSize, "SETTINGS of %d bytes", len(payload))
		return
	case flags&flagAck != 0 || !h.mayAnswer():
		return
	}
	window := h.initial
	for ; len(payload) > 0; payload = payload[6:] {
		if !h.set(binary.BigEndian.Uint16(payload), binary.BigEndian.Uint32(payload[2:])) {
			return
		}
	}
	for _, r := range h.uploads {
		if r.h2.window += h.initial - window; r.h2.window > maxStream {
			h.die(codeFlow, "SETTINGS make the window of stream %d too large", r.h2.id)
			return
		}
	}
	c.write(appendFrame(h.scratch[:0], 0, frameSettings, flagAck, 0))
	if !h.greeted {
		h.greeted = true
		c.established()
		return
	}
	if h.initial > window {
		h.uploadAll()
	}
	if limit := h.limit(); limit != c.limit {
		gen := c.gen
		c.resize()
		if c.gen == gen {
			c.p.sink.freed()
		}
	}
}

// set takes one setting; false after a connection error.
func (h *h2) set(id uint16, value uint32) bool {
	switch id {
	case settingTable:
		// The first header block that follows has to say how much of a smaller table is used: nothing.
		if value < 4096 {
			h.encoding = encodeShrink
		}
	case settingPush:
		if value != 0 {
			h.die(codeProtocol, "the server's SETTINGS_ENABLE_PUSH is %d", value)
			return false
		}
	case settingStreams:
		h.most = min(value, maxStream)
		if p := h.c.p; value > 0 && (p.streamLimit == 0 || int(value) < p.streamLimit) {
			p.streamLimit = int(value)
		}
	case settingWindow:
		if value > maxStream {
			h.die(codeFlow, "SETTINGS_INITIAL_WINDOW_SIZE is %d", value)
			return false
		}
		h.initial = int64(value)
	case settingFrame:
		if value < maxFrame || value >= 1<<24 {
			h.die(codeProtocol, "SETTINGS_MAX_FRAME_SIZE is %d", value)
			return false
		}
		h.frameMax = int(value)
	}
	return true
}

// windowUpdate handles WINDOW_UPDATE.
func (h *h2) windowUpdate(id uint32, payload []byte) {
	if len(payload) != 4 {
		h.die(codeFrameSize, "WINDOW_UPDATE of %d bytes", len(payload))
		return
	}
	more := int64(binary.BigEndian.Uint32(payload) & maxStream)
	if id == 0 {
		h.window += more
		if more == 0 {
			h.die(codeProtocol, "WINDOW_UPDATE by 0")
		} else if h.window > maxStream {
			h.die(codeFlow, "WINDOW_UPDATE makes the connection's window too large")
		} else {
			h.uploadAll()
		}
		return
	}
	if id&1 == 0 || id >= h.next {
		h.die(codeProtocol, "WINDOW_UPDATE of stream %d, which was not opened", id)
		return
	}
	r := h.streams.find(id)
	if r == nil {
		return
	}
	r.h2.window += more
	switch {
	case more == 0:
		h.spoil(r, codeProtocol, false, "WINDOW_UPDATE by 0")
	case r.h2.window > maxStream && r.h2.uploaded < len(r.form.body):
		h.spoil(r, codeFlow, false, "WINDOW_UPDATE makes the stream's window too large")
	default:
		h.upload(r)
	}
}

// mostUnsent bounds how many bytes of bodies are kept for the connection to take, whatever a server's windows let through.
const mostUnsent = 256 << 10

// upload writes of a request's body what the windows let through and the connection takes.
func (h *h2) upload(r *request) {
	s, body := &r.h2, r.form.body
	if s.uploaded == len(body) {
		return
	}
	for {
		if c := h.c; len(c.out)+len(c.plain) >= mostUnsent {
			c.full = true
			return
		}
		n := int(min(int64(len(body)-s.uploaded), int64(h.frameMax), s.window, h.window))
		if n <= 0 {
			return
		}
		flags := byte(0)
		if s.uploaded+n == len(body) {
			flags = flagEnd
		}
		h.c.write(appendFrame(h.scratch[:0], n, frameData, flags, s.id))
		h.c.write(body[s.uploaded : s.uploaded+n])
		s.uploaded, s.window, h.window = s.uploaded+n, s.window-int64(n), h.window-int64(n)
		if s.uploaded == len(body) {
			i := slices.Index(h.uploads, r)
			h.uploads = slices.Delete(h.uploads, i, i+1)
			return
		}
	}
}

// uploadAll goes on with all that are not written, the oldest first.
func (h *h2) uploadAll() {
	for i := 0; i < len(h.uploads) && h.window > 0 && !h.c.full; {
		r := h.uploads[i]
		h.upload(r)
		if r.h2.uploaded < len(r.form.body) { // else it is no longer in the list
			i++
		}
	}
}

// data begins a DATA frame, of which what comes before the data is here.
func (h *h2) data(id uint32, flags byte, length int, payload []byte) {
	n, pad := length, 0
	if flags&flagPadded != 0 {
		if length == 0 {
			h.die(codeFrameSize, "a padded frame without a length of the padding")
			return
		}
		n, pad = length-1, int(payload[0])
		if pad > n {
			h.die(codeProtocol, "padding of %d bytes in a frame of %d", pad, length)
			return
		}
	}
	if h.taken += length; h.taken > receiveWindow/2 {
		h.put(frameWindow, 0, uint32(h.taken))
		h.taken = 0
	}
	r := h.streams.find(id)
	switch {
	case r == nil:
		if !h.stray("DATA", id) {
			return
		}
	case !h.take(r, length, flags&flagEnd != 0):
		r = nil
	}
	h.dataOf, h.left, h.pad, h.dataEnds = r, n, pad, flags&flagEnd != 0
	if n == 0 {
		h.dataOver()
	}
}

// take counts DATA of a stream; false if it has failed.
func (h *h2) take(r *request, length int, ends bool) bool {
	s := &r.h2
	r.began = true
	if !s.headed {
		h.spoil(r, codeProtocol, ends, "DATA before a final status")
		return false
	}
	if s.taken += length; s.taken > receiveWindow/2 && !ends {
		h.put(frameWindow, s.id, uint32(s.taken))
		s.taken = 0
	}
	return true
}

// payload takes a part of what is left of a DATA frame.
func (h *h2) payload(b []byte) {
	data := b[:min(len(b), max(0, h.left-h.pad))]
	h.left -= len(b)
	if r := h.dataOf; r != nil && len(data) > 0 {
		s := &r.h2
		switch {
		case s.bodyless:
			h.spoil(r, codeProtocol, h.dataEnds, "a body where there can be none")
		case s.left >= 0 && int64(len(data)) > s.left:
			h.spoil(r, codeProtocol, h.dataEnds, "a body longer than its content-length")
		default:
			if s.left >= 0 {
				s.left -= int64(len(data))
			}
			r.body(data)
		}
	}
	if h.left == 0 {
		h.dataOver()
	}
}

// dataOver is after a DATA frame.
func (h *h2) dataOver() {
	r := h.dataOf
	h.dataOf = nil
	if r != nil && h.dataEnds {
		h.finish(r)
	}
}
