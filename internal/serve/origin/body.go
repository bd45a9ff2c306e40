package origin

import (
	"bytes"
	"errors"
)

// Bounds of a chunked body's lines, in bytes.
const (
	maxChunkLine = 256
	maxTrailer   = 4 << 10
)

var errChunk = errors.New("malformed chunked body")

// A dechunker finds the end of a chunked body (RFC 9112, 7.1) in whatever pieces it arrives.
type dechunker struct {
	total   int64 // bytes of content so far
	left    int64 // of the current chunk
	ending  bool  // a CRLF comes next, after a chunk's last byte
	trailer int   // bytes of trailer fields; 0 before the last chunk
	last    bool  // the last chunk was seen
	done    bool
}

// feed takes the next bytes and answers how many of them it consumed. It consumes whole lines only: what is left over is
// to be fed again with more behind it. After the last chunk and the trailer fields done is set.
func (d *dechunker) feed(b []byte) (int, error) {
	used := 0
	for !d.done {
		if d.left > 0 {
			n := min(d.left, int64(len(b)-used))
			used += int(n)
			d.left -= n
			d.total += n
			if d.left > 0 {
				return used, nil
			}
			d.ending = true
		}
		limit := maxChunkLine
		if d.last {
			limit = maxTrailer - d.trailer
		}
		end := bytes.IndexByte(b[used:], '\n') + 1
		if end > limit || end == 0 && len(b)-used >= limit {
			return used, errChunk
		}
		if end == 0 {
			return used, nil
		}
		line, _, ok := cutLine(b[used : used+end])
		if !ok {
			return used, errChunk
		}
		used += end
		if err := d.line(line, end); err != nil {
			return used, err
		}
	}
	return used, nil
}

// line takes a line outside of the chunks' content.
func (d *dechunker) line(line []byte, length int) error {
	switch {
	case d.ending:
		d.ending = false
		if len(line) > 0 {
			return errChunk
		}
	case !d.last:
		size, ok := parseChunkSize(line)
		if !ok {
			return errChunk
		}
		d.left, d.last = size, size == 0
	case len(line) == 0:
		d.done = true
	default:
		d.trailer += length
		var ignored head
		if parseField(line, &ignored) != 0 {
			return errChunk
		}
	}
	return nil
}

// parseChunkSize reads a hexadecimal size of at most 15 digits, and passes over an extension.
func parseChunkSize(line []byte) (size int64, ok bool) {
	digits, extension, _ := bytes.Cut(line, []byte{';'})
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for _, c := range digits {
		if !isHex(c) {
			return 0, false
		}
		v := c | 0x20
		if v >= 'a' {
			v -= 'a' - 10
		} else {
			v = c - '0'
		}
		size = size<<4 | int64(v)
	}
	for _, c := range extension {
		if c < ' ' && c != '\t' || c == 0x7f {
			return 0, false
		}
	}
	return size, true
}
