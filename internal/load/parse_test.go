package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	var known knownHead
	long := strings.Repeat("x", maxHead)
	for _, tt := range []struct {
		name, in string
		head     bool
		status   int
		body     string
		keep     bool
		eof      bool   // complete only by the end of the connection
		err      string // part of the error
	}{
		{name: "length", in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello", keep: true},
		{name: "no reason", in: "HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", status: 200, keep: true},
		{name: "equal lengths", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nCONTENT-LENGTH: 1\r\n\r\nx", status: 200, body: "x", keep: true},
		{name: "chunks", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\nA ;a=b\r\n0123456789\r\n0\r\n\r\n", status: 200, body: "hello0123456789", keep: true},
		{name: "trailers", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\n", status: 200, keep: true},
		{name: "close", in: "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "close wins", in: "HTTP/1.0 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "1.0", in: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		{name: "1.0 keep-alive", in: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", keep: true},
		{name: "until close", in: "HTTP/1.1 404 No\r\n\r\nhello", status: 404, body: "hello", eof: true},
		{name: "HEAD", in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", head: true, status: 200, keep: true},
		{name: "HEAD chunked", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head: true, status: 200, keep: true},
		{name: "204", in: "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", status: 204, keep: true},
		{name: "304", in: "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304, keep: true},
		{name: "100", in: "HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, keep: true},
		{name: "after 204", in: "HTTP/1.1 204 No\r\n\r\nhello", err: "5 bytes follow"},
		{name: "after length", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhello", err: "4 bytes follow"},
		{name: "after chunks", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", err: "1 bytes follow"},
		{name: "many interim", in: strings.Repeat("HTTP/1.1 103 x\r\n\r\n", 17), err: "more than 16 interim"},
		{name: "101", in: "HTTP/1.1 101 x\r\n\r\n", err: "101"},
		{name: "version 2", in: "HTTP/2 200\r\n\r\n", err: "status line"},
		{name: "version 1.2", in: "HTTP/1.2 200 OK\r\n\r\n", err: "status line"},
		{name: "status 20", in: "HTTP/1.1 20 OK\r\n\r\n", err: "status line"},
		{name: "status 2000", in: "HTTP/1.1 2000 OK\r\n\r\n", err: "status line"},
		{name: "status 099", in: "HTTP/1.1 099 OK\r\n\r\n", err: "status 099"},
		{name: "line feeds", in: "HTTP/1.1 200 OK\nContent-Length: 0\n\r\n\r\n", err: "control character"},
		{name: "folded", in: "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", err: "header"},
		{name: "no colon", in: "HTTP/1.1 200 OK\r\nA\r\n\r\n", err: "header line"},
		{name: "space before the colon", in: "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", err: "header name"},
		{name: "no name", in: "HTTP/1.1 200 OK\r\n: 0\r\n\r\n", err: "header line"},
		{name: "NUL", in: "HTTP/1.1 200 OK\r\nA: b\x00\r\n\r\n", err: "control character"},
		{name: "negative length", in: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", err: "Content-Length"},
		{name: "huge length", in: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", err: "Content-Length"},
		{name: "empty length", in: "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", err: "Content-Length"},
		{name: "list of lengths", in: "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", err: "Content-Length"},
		{name: "two lengths", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", err: "two different"},
		{name: "length and chunks", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", err: "beside"},
		{name: "gzip", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", err: "Transfer-Encoding"},
		{name: "chunked twice", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", err: "Transfer-Encoding"},
		{name: "chunked 1.0", in: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", err: "Transfer-Encoding"},
		{name: "chunk size x", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", err: "chunk size"},
		{name: "chunk size empty", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", err: "chunk size"},
		{name: "chunk size huge", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", err: "chunk size"},
		{name: "chunk too long", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n", err: "chunk"},
		{name: "chunk line too long", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long[:maxChunk], err: "longer than"},
		{name: "bad trailer", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n", err: "header line"},
		{name: "long trailers", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: "+long[:1000]+"\r\n", 66), err: "trailers are longer"},
		{name: "not HTTP", in: "SSH-2.0-OpenSSH\r\n", err: "status line"},
		{name: "long header", in: "HTTP/1.1 200 OK\r\nA: " + long, err: "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// However the bytes are cut into reads, and whether the head is known, the result is the same.
			for _, size := range []int{1, 2, 3, 7, 64, len(tt.in), len(tt.in)} {
				var body bytes.Buffer
				r := collecting(tt.head, &body)
				p := parser{known: &known}
				p.reset(r)
				done, err := feedAll(&p, []byte(tt.in), size)
				if tt.err != "" {
					if err == nil || !strings.Contains(err.Error(), tt.err) && !strings.Contains(tt.err, "bytes follow") {
						t.Fatalf("in pieces of %d: error %v, want one with %q", size, err, tt.err)
					}
					continue
				}
				if err != nil || done == tt.eof {
					t.Fatalf("in pieces of %d: done %v, error %v", size, done, err)
				}
				if tt.eof && !p.eof() {
					t.Fatalf("not complete at the end of the connection")
				}
				if p.status != tt.status || p.keep != tt.keep || body.String() != tt.body || r.bytes != int64(len(tt.body)) {
					t.Errorf("in pieces of %d: status %d, keep %v, %d bytes, body %q", size, p.status, p.keep, r.bytes, body.String())
				}
			}
			// No shorter beginning is complete.
			if tt.err == "" && !tt.eof {
				for n := range len(tt.in) {
					var p parser
					p.reset(collecting(tt.head, io.Discard))
					if done, err := p.feed([]byte(tt.in[:n])); done || err != nil || p.eof() {
						t.Fatalf("the first %d bytes: done %v, error %v", n, done, err)
					}
				}
			}
		})
	}
}

// collecting is a request whose answer's body goes to w.
func collecting(head bool, w io.Writer) *request {
	return &request{form: &form{isHead: head}, hash: writer{w}}
}

// A writer takes the place of the hash of a body.
type writer struct{ io.Writer }

func (writer) Sum([]byte) []byte { return nil }
func (writer) Reset()            {}
func (writer) Size() int         { return 0 }
func (writer) BlockSize() int    { return 1 }

// feedAll feeds b in pieces, each in memory of its own that is overwritten afterwards, as the buffer of a loop is.
func feedAll(p *parser, b []byte, size int) (done bool, err error) {
	for len(b) > 0 {
		n := min(size, len(b))
		piece := bytes.Clone(b[:n])
		done, err = p.feed(piece)
		for i := range piece {
			piece[i] = '#'
		}
		if err != nil {
			return done, err
		}
		b = b[n:]
	}
	return done, nil
}

func parseIn(in []byte, size int, head bool, known *knownHead) (p *parser, body *bytes.Buffer, done bool, err error) {
	p, body = &parser{known: known}, &bytes.Buffer{}
	p.reset(collecting(head, body))
	done, err = feedAll(p, in, size)
	return p, body, done, err
}

// FuzzParse: what the parser accepts net/http accepts too, with the same status and body, in whatever pieces it came.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello",
		"HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 304 No\r\nContent-Length: 3\r\n\r\n",
	} {
		f.Add([]byte(s), byte(3), false)
		f.Add([]byte(s), byte(255), true)
	}
	var known knownHead
	f.Fuzz(func(t *testing.T, in []byte, size byte, head bool) {
		p, body, done, err := parseIn(in, int(size)+1, head, nil)
		p2, body2, done2, err2 := parseIn(in, len(in)+1, head, &known)
		if p.status != p2.status || p.keep != p2.keep || done != done2 || (err == nil) != (err2 == nil) || err == nil && body.String() != body2.String() {
			t.Errorf("%q: status %d, done %v, %v; beside another head: %d, %v, %v", in, p.status, done, err, p2.status, done2, err2)
		}
		if err != nil || !done && !p.eof() {
			return
		}
		method := "GET"
		if head {
			method = "HEAD"
		}
		r := bufio.NewReaderSize(bytes.NewReader(in), 1<<17)
		var res *http.Response
		for {
			res, err = http.ReadResponse(r, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("net/http refuses %q: %v", in, err)
			}
			if res.StatusCode >= 200 {
				break
			}
		}
		want, err := io.ReadAll(res.Body)
		if err != nil {
			if strings.Contains(err.Error(), "too much overhead") || strings.Contains(err.Error(), "line too long") {
				return // a limit of net/http on chunk framing
			}
			t.Fatalf("net/http refuses the body of %q: %v", in, err)
		}
		if res.StatusCode != p.status || !bytes.Equal(want, body.Bytes()) {
			t.Errorf("%q: status %d, body %q; net/http: %d, %q", in, p.status, body.Bytes(), res.StatusCode, want)
		}
		if p.keep && res.Close {
			t.Errorf("%q: the connection is kept; net/http closes it", in)
		}
	})
}
