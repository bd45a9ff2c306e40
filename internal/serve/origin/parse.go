package origin

import "bytes"

// MaxHead bounds the request line with all header fields, in bytes.
const MaxHead = 64 << 10

// framing is how long a request's body is.
type framing uint8

const (
	none    framing = iota // no body
	counted                // head.length bytes
	chunked
)

// A head is what the server needs to know of a request line and its header fields.
type head struct {
	target   []byte // path and query; valid until the buffer is read into again
	framing  framing
	length   int64 // of a counted body
	head     bool  // the method is HEAD: the answer has no body
	old      bool  // HTTP/1.0
	close    bool  // the connection ends with the answer
	keep     bool  // keep-alive was asked for in so many words, which HTTP/1.0 expects in the answer
	expects  bool  // Expect: 100-continue
	hosts    int
	lengths  int
	transfer int
}

// parseHead reads the request line and the header fields, from the first byte to the empty line with which b ends. It is
// strict where a lenient server and the proxy in front of it could understand two different requests: lines end with CRLF,
// nothing stands before a colon, no folded lines, one Host, one length, "chunked" alone. The answer is 0, or the status
// with which the request is refused.
func parseHead(b []byte, h *head) int {
	*h = head{}
	line, rest, ok := cutLine(b)
	if !ok {
		return 400
	}
	if status := parseRequestLine(line, h); status != 0 {
		return status
	}
	for {
		if line, rest, ok = cutLine(rest); !ok {
			return 400
		}
		if len(line) == 0 {
			break
		}
		if status := parseField(line, h); status != 0 {
			return status
		}
	}
	switch {
	case len(rest) > 0:
		return 400
	case h.hosts != 1 && !(h.old && h.hosts == 0):
		return 400
	case h.transfer > 0 && (h.lengths > 0 || h.old):
		return 400
	}
	if h.old && !h.keep {
		h.close = true
	}
	return 0
}

// cutLine cuts off the first line, which must end with CRLF and hold neither of the two.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' {
		return nil, nil, false
	}
	return b[:i-1], b[i+1:], true
}

func parseRequestLine(line []byte, h *head) int {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || !isToken(method) {
		return 400
	}
	target, version, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return 400
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.old = true
	case "HTTP/2.0", "HTTP/0.9":
		return 505
	default:
		return 400
	}
	h.head = string(method) == "HEAD"
	if string(method) == "CONNECT" {
		return 405
	}
	if h.target, ok = originForm(target, string(method) == "OPTIONS"); !ok {
		return 400
	}
	return 0
}

// originForm is the path and query of a request target, which may be a whole URI, as a forward proxy would be sent.
func originForm(target []byte, options bool) ([]byte, bool) {
	for _, scheme := range []string{"http://", "https://"} {
		if len(target) < len(scheme) || target[0] == '/' || !equalFold(target[:len(scheme)], scheme) {
			continue
		}
		target = target[len(scheme):]
		end := bytes.IndexAny(target, "/?")
		if end < 0 {
			end = len(target)
		}
		if end == 0 || !isAuthority(target[:end]) {
			return nil, false
		}
		if target = target[end:]; len(target) == 0 || target[0] == '?' {
			return []byte("/"), validTarget(target)
		}
		break
	}
	if options && string(target) == "*" {
		return target, true
	}
	return target, len(target) > 0 && target[0] == '/' && validTarget(target)
}

// validTarget tells whether b is visible ASCII without a fragment, its escapes well-formed.
func validTarget(b []byte) bool {
	for i, c := range b {
		if c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
		if c == '%' && (i+2 >= len(b) || !isHex(b[i+1]) || !isHex(b[i+2])) {
			return false
		}
	}
	return true
}

// isAuthority tells whether b is a host name or address, with a port or without.
func isAuthority(b []byte) bool {
	host := b
	if i := bytes.LastIndexByte(b, ':'); i >= 0 && bytes.IndexByte(b[i:], ']') < 0 {
		host = b[:i]
		for _, c := range b[i+1:] {
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	v6 := len(host) > 4 && host[0] == '[' && host[len(host)-1] == ']'
	if v6 {
		host = host[1 : len(host)-1]
	}
	for _, c := range host {
		switch {
		case v6 && (isHex(c) || c == ':' || c == '.'):
		case !v6 && (c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'):
		default:
			return false
		}
	}
	return len(host) > 0
}

func parseField(line []byte, h *head) int {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || !isToken(line[:colon]) {
		return 400
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return 400
		}
	}
	switch len(name) { // a cheap look before the comparison
	case len("host"):
		if equalFold(name, "host") {
			h.hosts++
			if len(value) > 0 && !isAuthority(value) {
				return 400
			}
		}
	case len("expect"):
		if equalFold(name, "expect") {
			if !equalFold(value, "100-continue") {
				return 417
			}
			h.expects = !h.old
		}
	case len("connection"):
		if equalFold(name, "connection") {
			parseConnection(value, h)
		}
	case len("content-length"):
		if equalFold(name, "content-length") {
			return parseLength(value, h)
		}
	case len("transfer-encoding"):
		if equalFold(name, "transfer-encoding") {
			h.transfer++
			if h.transfer > 1 {
				return 400
			}
			if !equalFold(value, "chunked") {
				return 501
			}
			h.framing = chunked
		}
	}
	return 0
}

func parseConnection(value []byte, h *head) {
	for len(value) > 0 {
		var option []byte
		option, value, _ = bytes.Cut(value, []byte{','})
		switch option = bytes.Trim(option, " \t"); {
		case equalFold(option, "close"):
			h.close = true
		case equalFold(option, "keep-alive"):
			h.keep = true
		}
	}
}

func parseLength(value []byte, h *head) int {
	if h.lengths++; h.lengths > 1 || len(value) == 0 || len(value) > 18 {
		return 400
	}
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return 400
		}
		n = 10*n + int64(c-'0')
	}
	if h.length = n; n > 0 {
		h.framing = counted
	}
	return 0
}

// token marks the bytes of RFC 9110, 5.6.2.
var token = func() (t [256]bool) {
	for c := range t {
		t[c] = '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' && c < 0x80 || c < 0x80 && c > 0 && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), byte(c)) >= 0
	}
	return t
}()

func isToken(b []byte) bool {
	for _, c := range b {
		if !token[c] {
			return false
		}
	}
	return len(b) > 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// equalFold compares with ASCII letters of either case; lower is lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
