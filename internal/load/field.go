package load

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// statusLine gives the minor version (0 or 1) and the status.
func statusLine(b []byte) (minor, status int, err error) {
	if len(b) < len("HTTP/1.1 200") || string(b[:7]) != "HTTP/1." || b[7] != '0' && b[7] != '1' || b[8] != ' ' ||
		len(b) > 12 && b[12] != ' ' {
		return 0, 0, fmt.Errorf("status line %.60q", b)
	}
	for _, c := range b[9:12] {
		if c < '0' || c > '9' {
			return 0, 0, fmt.Errorf("status line %.60q", b)
		}
		status = 10*status + int(c-'0')
	}
	if status < 100 {
		return 0, 0, fmt.Errorf("status %03d", status)
	}
	if !text(b) {
		return 0, 0, fmt.Errorf("a control character in the status line %.60q", b)
	}
	return int(b[7] - '0'), status, nil
}

// field splits a header line.
func field(b []byte) (name, value []byte, err error) {
	i := bytes.IndexByte(b, ':')
	if i <= 0 {
		return nil, nil, fmt.Errorf("header line %.60q", b)
	}
	for _, c := range b[:i] {
		if !tokenByte[c] {
			return nil, nil, fmt.Errorf("header name %.60q", b[:i])
		}
	}
	value = bytes.Trim(b[i+1:], " \t")
	if !text(value) {
		return nil, nil, fmt.Errorf("a control character in the header %.60q", b)
	}
	return b[:i], value, nil
}

func contentLength(b []byte) (int64, error) {
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, fmt.Errorf("Content-Length %.40q", b)
		}
		n = 10*n + int64(c-'0')
	}
	if len(b) == 0 {
		return 0, errors.New("an empty Content-Length")
	}
	return n, nil
}

// chunkSize reads a chunk's size and passes over its extensions.
func chunkSize(b []byte) (int64, error) {
	size, ext, _ := bytes.Cut(b, []byte(";"))
	size = bytes.TrimRight(size, " \t")
	if len(size) == 0 || len(size) > 15 || !text(ext) {
		return 0, fmt.Errorf("chunk size %.40q", b)
	}
	var n int64
	for _, c := range size {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, fmt.Errorf("chunk size %.40q", b)
		}
		n = n<<4 | int64(c)
	}
	return n, nil
}

// text tells whether b has no control characters but tabs.
func text(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// equalFold compares with a lower-case ASCII string.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// tokenByte are the characters of a header name (RFC 9110, section 5.6.2).
var tokenByte = func() (t [256]bool) {
	for c := byte('0'); c <= 'z'; c++ {
		t[c] = c <= '9' || c >= 'a' || c >= 'A' && c <= 'Z'
	}
	for _, c := range []byte("!#$%&'*+-.^_`|~") {
		t[c] = true
	}
	return t
}()
