package load

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"golang.org/x/net/http2/hpack"
)

// h2 is HTTP/2 on a connection (RFC 9113): a loop over the bytes that arrive, which answers into the connection's buffer.
type h2 struct {
	c       *conn
	next    uint32 // id of the next stream
	streams streams
	list    []*request
	scratch []byte // a small frame
	long    []byte // a header that is written

	// What is being read.
	greeted  bool     // the server's settings have come
	part     []byte   // of a frame that is not all there
	left     int      // of the payload of a DATA frame, with its padding
	pad      int      // of left
	dataOf   *request // nil if nobody wants it
	dataEnds bool
	block    []byte // of a header in several frames
	blockOf  uint32 // its stream; 0 if there is none
	blockEnd bool   // the stream ends with it
	taken    int    // bytes of DATA since the last WINDOW_UPDATE
	acks     int    // frames that were answered while an answer waits to be written

	// What the server set.
	most     uint32 // streams
	initial  int64  // window of a stream
	window   int64  // of the connection
	frameMax int

	encoding int // of the requests' headers
	decoder  *hpack.Decoder
	table    uint64   // largest size of the decoder's dynamic table
	cached   []cached // answers that were decoded
	got      answer   // that is being decoded
	uploads  []*request

	last     uint32 // stream of GOAWAY
	forgiven uint32 // up to it frames of streams that are over are no error: one was given up
	heard    int64  // when something arrived
	pinged   int64  // when it was asked whether the server is there
}

func newH2(c *conn) protocol {
	h := &h2{c: c, next: 1, most: maxStream, initial: 65535, window: 65535, frameMax: maxFrame, table: tableSize, last: maxStream, scratch: make([]byte, 0, 64)}
	h.decoder = hpack.NewDecoder(tableSize, h.field)
	h.decoder.SetMaxStringLength(maxHead)
	return h
}

// receiveWindow is how much a server may send before it hears that it arrived, on a stream and on the connection: what h2load
// takes. Answers are not held up; a slow reader is slow in reading its connection.
const receiveWindow = 1<<30 - 1

// tableSize is that of the dynamic table of answers' headers: the default, which is said all the same
// (docs/decisions/0016-header-compression.md).
const tableSize = 4096

// preface is what a client says first. Pushes are refused.
var preface = func() []byte {
	set := []struct {
		id    uint16
		value uint32
	}{{settingTable, tableSize}, {settingPush, 0}, {settingWindow, receiveWindow}, {settingHeaders, maxHead}}
	b := appendFrame([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 6*len(set), frameSettings, 0, 0)
	for _, s := range set {
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, s.id), s.value)
	}
	return appendFrame32(b, frameWindow, 0, receiveWindow-65535)
}()

func (h *h2) open() { h.c.send(preface) }

func (h *h2) limit() int {
	if !h.c.p.job.Reuse {
		return min(1, int(h.most))
	}
	return min(h.c.p.job.streams, int(h.most))
}

func (h *h2) send(r *request) {
	c, f := h.c, r.form
	r.h2 = stream{id: h.next, left: -1, window: h.initial}
	h.next += 2
	h.streams.add(r)
	if h.encoding == encodeLater && len(f.h2.frame) > 0 {
		binary.BigEndian.PutUint32(f.h2.frame[5:], r.h2.id)
		c.write(f.h2.frame)
	} else {
		h.writeHeader(r)
	}
	if len(f.body) > 0 {
		h.uploads = append(h.uploads, r)
		h.upload(r)
	}
	if h.next > maxStream {
		c.retire()
	}
}

// forget takes a request off the connection, and tells whether all of it was written.
func (h *h2) forget(r *request) (written bool) {
	h.streams.remove(r)
	if h.dataOf == r {
		h.dataOf = nil
	}
	written = r.h2.uploaded == len(r.form.body)
	if !written {
		i := slices.Index(h.uploads, r)
		h.uploads = slices.Delete(h.uploads, i, i+1)
	}
	return written
}

// giveUp tells the server that a stream is over. It may have written more for it by then.
func (h *h2) giveUp(id uint32, code uint32) {
	h.forgiven = max(h.forgiven, id)
	h.put(frameReset, id, code)
}

// finish gives a request back whose answer has ended.
func (h *h2) finish(r *request) {
	s := &r.h2
	if s.left > 0 {
		h.spoil(r, codeProtocol, true, "the body ends %d bytes before its content-length", s.left)
		return
	}
	if !h.forget(r) { // the server wants no more of the request
		h.giveUp(s.id, codeCancel)
	}
	h.c.answered(r, h.c.p.job.Reuse)
}

// spoil fails a request whose answer breaks the rules. The connection goes on.
func (h *h2) spoil(r *request, code uint32, ended bool, format string, args ...any) {
	if written := h.forget(r); !written || !ended {
		h.giveUp(r.h2.id, code)
	}
	h.c.failed(r, Protocol, format, args...)
}

// stray is a frame of a stream that no request has. It is an error unless the stream was given up; false then.
func (h *h2) stray(what string, id uint32) bool {
	switch {
	case id&1 == 0 || id >= h.next:
		h.die(codeProtocol, "%s of stream %d, which was not opened", what, id)
	case id > h.forgiven:
		h.die(codeClosed, "%s of stream %d, which had ended", what, id)
	default:
		return true
	}
	return false
}

func (h *h2) completes() bool { return false }

// cancel gives a request up. A server that has been silent since it was sent is asked whether it is still there; a connection
// on which nothing follows takes no further requests.
func (h *h2) cancel(r *request) bool {
	h.forget(r)
	h.giveUp(r.h2.id, codeCancel)
	now := h.c.p.now
	switch {
	case h.heard >= r.sent:
	case h.pinged <= h.heard:
		h.pinged = now
		h.c.write(append(appendFrame(h.scratch[:0], 8, framePing, 0, 0), "planrun?"...))
	case now-h.pinged > int64(time.Second):
		h.c.retire()
	}
	return true
}

func (h *h2) orphans() []*request {
	h.list = h.list[:0]
	for _, r := range h.streams.slots {
		if r != nil {
			h.list = append(h.list, r)
		}
	}
	slices.SortFunc(h.list, func(a, b *request) int { return cmp.Compare(a.h2.id, b.h2.id) })
	h.streams, h.uploads, h.dataOf = streams{}, nil, nil
	return h.list
}
