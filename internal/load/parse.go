package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Bounds on what a response may hold before its body.
const (
	maxHead    = 64 << 10 // bytes of a status line with its header, and of trailers
	maxInterim = 16       // 1xx responses before the final one
	maxChunk   = 4 << 10  // bytes of a line with a chunk's size
)

// A parser reads the HTTP/1 responses of one connection, one after another. It is stricter than it has to be (lines end
// with CRLF, no folded lines, no Content-Length beside Transfer-Encoding), because whatever it guessed wrong would
// desynchronise the connection and be counted as something else later.
type parser struct {
	head  bool       // the request was a HEAD
	watch string     // name of a header whose value is wanted
	known *knownHead // shared by parsers whose watch is the same; nil remembers nothing

	state   int
	left    int64  // of the body or the chunk
	part    []byte // of a line or a head that is not complete yet
	interim int
	goOn    bool // a 100 Continue came

	status int  // of the final response
	keep   bool // the connection can be used again

	req *request // gets the body and the header that is watched
}

// States of a parser.
const (
	inHead = iota
	inBody
	untilClose
	inChunkSize
	inChunk
	afterChunk
	inTrailer
	complete
)

// reset prepares for the response to a request.
func (p *parser) reset(r *request) {
	p.req, p.head = r, r.form.isHead
	p.state, p.left, p.part, p.interim, p.goOn = inHead, 0, p.part[:0], 0, false
	p.status, p.keep = 0, false
}

// feed takes what was read and tells whether the response is complete. Bytes that follow a complete response are an error:
// no second request was sent, so nothing more may come.
func (p *parser) feed(b []byte) (done bool, err error) {
	for {
		switch p.state {
		case inHead:
			if rest, ok := p.recall(b); ok {
				b = rest
				break
			}
			head, rest, err := p.take(b, "\r\n\r\n", maxHead, "header")
			if head == nil {
				return false, cmp.Or(p.begins(), err)
			}
			b = rest
			if err := p.parseHead(head); err != nil {
				return false, err
			}
			p.remember(head)
		case inBody, inChunk:
			n := min(int64(len(b)), p.left)
			p.req.body(b[:n])
			b = b[n:]
			if p.left -= n; p.left > 0 {
				return false, nil
			}
			if p.state == inBody {
				p.state = complete
			} else {
				p.state = afterChunk
			}
		case untilClose:
			p.req.body(b)
			return false, nil
		case inChunkSize:
			line, rest, err := p.take(b, "\r\n", maxChunk, "chunk size")
			if line == nil {
				return false, err
			}
			b = rest
			if p.left, err = chunkSize(line[:len(line)-2]); err != nil {
				return false, err
			}
			p.state = inChunk
			if p.left == 0 {
				p.state = inTrailer
			}
		case afterChunk:
			end, rest, err := p.take(b, "\r\n", 2, "chunk's end")
			if end == nil {
				return false, err
			}
			b, p.state = rest, inChunkSize
		case inTrailer:
			line, rest, err := p.take(b, "\r\n", maxHead, "trailer")
			if line == nil {
				return false, err
			}
			b = rest
			if len(line) == 2 {
				p.state = complete
				break
			}
			if _, _, err := field(line[:len(line)-2]); err != nil {
				return false, err
			}
			if p.left += int64(len(line)); p.left > maxHead { // left is free here
				return false, fmt.Errorf("trailers are longer than %d bytes", maxHead)
			}
		case complete:
			if len(b) > 0 {
				return false, fmt.Errorf("%d bytes follow the end of the response: %.40q", len(b), b)
			}
			return true, nil
		}
	}
}

// eof says that the server has closed the connection, and tells whether that completes the response.
func (p *parser) eof() bool {
	if p.state == untilClose {
		p.state = complete
	}
	return p.state == complete
}

// begins tells what is wrong with the status line of a head that is not complete: what speaks something else would be waited
// for in vain.
func (p *parser) begins() error {
	line, _, found := bytes.Cut(p.part, []byte("\r\n"))
	if !found {
		return nil
	}
	_, _, err := statusLine(line)
	return err
}

// take gives the bytes up to and with the end mark and what follows; nil if the mark has not arrived yet.
func (p *parser) take(b []byte, end string, limit int, what string) (got, rest []byte, err error) {
	if len(p.part) == 0 { // the common case copies nothing
		if i := bytes.Index(b, []byte(end)); i >= 0 && i+len(end) <= limit {
			return b[:i+len(end)], b[i+len(end):], nil
		}
	}
	had := len(p.part)
	p.part = append(p.part, b[:min(len(b), limit-had+1)]...)
	i := bytes.Index(p.part[max(0, had-len(end)+1):], []byte(end))
	if i < 0 {
		if len(p.part) > limit {
			return nil, nil, fmt.Errorf("a %s is longer than %d bytes", what, limit)
		}
		return nil, nil, nil
	}
	n := max(0, had-len(end)+1) + i + len(end)
	if n > limit {
		return nil, nil, fmt.Errorf("a %s is longer than %d bytes", what, limit)
	}
	got, rest = p.part[:n], b[n-had:]
	p.part = p.part[:0] // got stays valid until the next take
	return got, rest, nil
}

// parseHead reads a status line and its header, and decides where the body ends (RFC 9112, section 6.3).
func (p *parser) parseHead(head []byte) error {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	minor, status, err := statusLine(line)
	if err != nil {
		return err
	}
	length, chunked := int64(-1), false
	keep := minor == 1
	for {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		name, value, err := field(line)
		if err != nil {
			return err
		}
		if len(name) == len(p.watch) && bytes.EqualFold(name, []byte(p.watch)) && p.req != nil {
			p.req.answeredBy(value)
		}
		switch len(name) {
		case len("Content-Length"):
			if !equalFold(name, "content-length") {
				break
			}
			n, err := contentLength(value)
			if err != nil {
				return err
			}
			if length >= 0 && n != length {
				return errors.New("two different Content-Lengths")
			}
			length = n
		case len("Transfer-Encoding"):
			if !equalFold(name, "transfer-encoding") {
				break
			}
			if chunked || minor == 0 || !equalFold(value, "chunked") {
				return fmt.Errorf("Transfer-Encoding %.40q in HTTP/1.%d", value, minor)
			}
			chunked = true
		case len("Connection"):
			if !equalFold(name, "connection") {
				break
			}
			for option := range bytes.SplitSeq(value, []byte(",")) {
				option = bytes.Trim(option, " \t")
				if equalFold(option, "close") {
					keep = false
					minor = -1 // close wins over keep-alive
				} else if minor == 0 && equalFold(option, "keep-alive") {
					keep = true
				}
			}
		}
	}
	if status < 200 {
		if status == 101 {
			return errors.New("status 101 without having asked for an upgrade")
		}
		if p.interim++; p.interim > maxInterim {
			return fmt.Errorf("more than %d interim responses", maxInterim)
		}
		p.goOn = p.goOn || status == 100
		return nil
	}
	p.status, p.keep = status, keep
	switch {
	case p.head || status == 204 || status == 304:
		p.state = complete
	case chunked && length >= 0:
		return errors.New("Content-Length beside Transfer-Encoding")
	case chunked:
		p.state = inChunkSize
	case length >= 0:
		p.state, p.left = inBody, length
	default:
		p.state, p.keep = untilClose, false
	}
	return nil
}
