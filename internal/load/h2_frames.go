package load

import "encoding/binary"

// Types of frames (RFC 9113, section 6).
const (
	frameData = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePush
	framePing
	frameGoAway
	frameWindow
	frameContinuation
)

// Flags of frames.
const (
	flagEnd        = 0x01 // of the stream
	flagAck        = 0x01
	flagEndHeaders = 0x04
	flagPadded     = 0x08
	flagPriority   = 0x20
)

const (
	frameHead = 9
	maxFrame  = 16 << 10 // bytes of a frame's payload that we take: the default, and what everybody takes
	maxStream = 1<<31 - 1
)

// appendFrame writes a frame's head.
func appendFrame(b []byte, length int, kind, flags byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags), id)
}

// appendFrame32 writes a frame with one number: RST_STREAM or WINDOW_UPDATE.
func appendFrame32(b []byte, kind byte, id, value uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, kind, 0, id), value)
}

// put writes a frame with one number.
func (h *h2) put(kind byte, id, value uint32) {
	h.c.write(appendFrame32(h.scratch[:0], kind, id, value))
}

// payloadLength is what the head of a frame says.
func payloadLength(head []byte) int { return int(head[0])<<16 | int(head[1])<<8 | int(head[2]) }

// needed is how many bytes are needed to handle the frame that begins b: its head; then all of it, but of DATA only what
// comes before the data. Of one that is too long the head is enough.
func needed(b []byte) int {
	if len(b) < frameHead {
		return frameHead
	}
	length := payloadLength(b)
	switch {
	case length > maxFrame:
		return frameHead
	case b[3] != frameData:
		return frameHead + length
	case b[4]&flagPadded != 0 && length > 0:
		return frameHead + 1
	}
	return frameHead
}

// frame cuts what is needed of the next frame off b; if it is not all there it is kept, and the frame is nil.
func (h *h2) frame(b []byte) (frame, rest []byte) {
	if len(h.part) == 0 { // the common case copies nothing
		if n := needed(b); n <= len(b) {
			return b[:n], b[n:]
		}
	}
	for {
		missing := needed(h.part) - len(h.part)
		if missing == 0 {
			frame, h.part = h.part, h.part[:0] // it is handled before the next part is kept
			return frame, b
		}
		n := min(missing, len(b))
		h.part = append(h.part, b[:n]...)
		if b = b[n:]; n < missing {
			return nil, nil
		}
	}
}

func (h *h2) feed(b []byte) {
	c := h.c
	gen := c.gen
	h.heard = c.p.now
	if c.closing && c.state == open {
		c.retire()
	}
	for len(b) > 0 {
		if h.left > 0 {
			n := min(h.left, len(b))
			h.payload(b[:n])
			b = b[n:]
		} else {
			var frame []byte
			if frame, b = h.frame(b); frame == nil {
				return
			}
			h.handle(frame)
		}
		if c.gen != gen {
			return
		}
	}
}

// handle handles a frame.
func (h *h2) handle(frame []byte) {
	length, kind, flags, id := payloadLength(frame), frame[3], frame[4], binary.BigEndian.Uint32(frame[5:])&maxStream
	payload := frame[frameHead:]
	switch {
	case !h.greeted && (kind != frameSettings || flags&flagAck != 0):
		h.die(codeProtocol, "the server does not begin with SETTINGS: %.20q", frame)
		return
	case length > maxFrame:
		h.die(codeFrameSize, "a frame of %d bytes", length)
		return
	case h.blockOf != 0 && (kind != frameContinuation || id != h.blockOf):
		h.die(codeProtocol, "a frame of type %d on stream %d within the header of stream %d", kind, id, h.blockOf)
		return
	}
	switch kind {
	case frameData:
		h.data(id, flags, length, payload)
	case frameHeaders:
		h.headers(id, flags, payload)
	case frameContinuation:
		h.continuation(id, flags, payload)
	case frameReset:
		h.wasReset(id, payload)
	case frameSettings:
		h.settings(id, flags, payload)
	case framePing:
		h.ping(id, flags, payload)
	case frameGoAway:
		h.goneAway(id, payload)
	case frameWindow:
		h.windowUpdate(id, payload)
	case framePush:
		h.die(codeProtocol, "PUSH_PROMISE, which was forbidden")
	case framePriority:
		if id == 0 {
			h.die(codeProtocol, "PRIORITY of stream 0")
		} else if length != 5 {
			h.die(codeFrameSize, "PRIORITY of %d bytes", length)
		}
	}
}

// unpad takes the padding off; false after a connection error.
func (h *h2) unpad(flags byte, payload []byte) ([]byte, bool) {
	if flags&flagPadded == 0 {
		return payload, true
	}
	if len(payload) == 0 {
		h.die(codeFrameSize, "a padded frame without a length of the padding")
		return nil, false
	}
	n := len(payload) - 1 - int(payload[0])
	if n < 0 {
		h.die(codeProtocol, "padding of %d bytes in a frame of %d", payload[0], len(payload))
		return nil, false
	}
	return payload[1 : 1+n], true
}
