package origin

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRouteOf(t *testing.T) {
	for _, test := range []struct {
		target string
		want   route
	}{
		{"/small", route{small, 0}}, {"/small?", route{small, 0}}, {"/small/", route{}}, {"/Small", route{}}, {"", route{}}, {"/", route{}},
		{"?x", route{}}, {"*", route{}}, {"/100k", route{hundred, 0}}, {"/stall?x", route{stalled, 0}}, {"/upload", route{upload, 0}},
		{"/bytes/0", route{sized, 0}}, {"/bytes/1125899906842624", route{sized, 1 << 50}}, {"/bytes/1125899906842625", route{}},
		{"/bytes/-1", route{}}, {"/bytes/+1", route{}}, {"/bytes/", route{}}, {"/bytes/1/2", route{}}, {"/bytes/0x1", route{}},
		{"/chunked/7?q", route{pieces, 7}}, {"/reset/12", route{resets, 12}},
		{"/status/200", route{status, 200}}, {"/status/599", route{status, 599}}, {"/status/100", route{}}, {"/status/600", route{}},
		{"/delay/0s", route{delayed, 0}}, {"/delay/1.5s", route{delayed, int64(1500 * time.Millisecond)}}, {"/delay/1h", route{delayed, int64(time.Hour)}},
		{"/delay/1h1ns", route{}}, {"/delay/-1s", route{}}, {"/delay/5", route{}}, {"/elsewhere/5", route{}},
	} {
		if got := routeOf([]byte(test.target)); got != test.want {
			t.Errorf("%q: %v, want %v", test.target, got, test.want)
		}
	}
}

// FuzzRequest holds the parser against net/http: what it takes for a request, net/http must take for the same one, with
// the same body and the same bytes behind it. It may refuse more.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /small HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD http://a.b:1/?x HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\nrest",
		"POST /upload HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloGET / HTTP/1.1\r\n",
		"PUT /upload HTTP/1.1\r\nHost:\r\ntransfer-encoding:\tchunked \r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore",
		"OPTIONS * HTTP/1.1\r\nhost: x\r\nX-Y:  z\t\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n", "GET /%zz HTTP/1.1\r\nHost : x\r\n\r\n",
		"GET //a/../b?%zz&;# HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := bytes.Index(b, []byte("\r\n\r\n")) + 4
		if end < 4 {
			return
		}
		var h head
		routeOf(b)
		if parseHead(b[:end], &h) != 0 {
			return
		}
		reader := bufio.NewReaderSize(bytes.NewReader(b), 1<<20)
		r, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatalf("net/http refuses what we took: %v", err)
		}
		target := r.URL.EscapedPath()
		if r.URL.RawQuery != "" || r.URL.ForceQuery {
			target += "?" + r.URL.RawQuery
		}
		if r.URL.Path == "" && r.URL.Host != "" {
			target = "/"
		}
		if got := string(h.target); got != target && !strings.HasPrefix(r.RequestURI, got) {
			t.Errorf("target %q, net/http has %q", got, target)
		}
		if (r.Method == "HEAD") != h.head || h.old != (r.ProtoMinor == 0) || r.Close != (h.close && !h.old) && !h.old {
			t.Errorf("%+v, net/http has %s %s, close %v", h, r.Method, r.Proto, r.Close)
		}
		if expects := strings.EqualFold(r.Header.Get("Expect"), "100-continue") && !h.old; expects != h.expects {
			t.Errorf("expects %v", h.expects)
		}
		body := b[end:]
		switch h.framing {
		case none, counted:
			if r.ContentLength != h.length || len(r.TransferEncoding) > 0 {
				t.Errorf("length %d, net/http has %d", h.length, r.ContentLength)
			}
		case chunked:
			var d dechunker
			n, err := d.feed(body)
			if err != nil || !d.done {
				return
			}
			content, err := io.ReadAll(r.Body)
			if err != nil {
				if strings.Contains(err.Error(), "too much") {
					return // net/http bounds the number of small chunks
				}
				t.Fatalf("net/http refuses a body that we took: %v", err)
			}
			if int64(len(content)) != d.total {
				t.Errorf("body of %d bytes, net/http has %d", d.total, len(content))
			}
			if left, _ := io.ReadAll(reader); !bytes.Equal(left, body[n:]) {
				t.Errorf("%q is left over, for net/http %q", body[n:], left)
			}
		}
	})
}

// FuzzChunks: however a body is cut into pieces, the same is read.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore"), uint8(3))
	f.Add([]byte("1\r\na\r\n00\r\n\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		var whole, parts dechunker
		n, err := whole.feed(b)
		if n > len(b) || n < 0 {
			t.Fatalf("consumed %d of %d", n, len(b))
		}
		used, given := 0, 0
		var partsErr error
		for given < len(b) && partsErr == nil && !parts.done {
			given = min(given+int(piece%16)+1, len(b))
			var m int
			m, partsErr = parts.feed(b[used:given])
			used += m
		}
		if (err == nil) != (partsErr == nil) || err == nil && (used != n || parts.total != whole.total || parts.done != whole.done) {
			t.Errorf("at once %d of %+v (%v), in pieces %d of %+v (%v)", n, whole, err, used, parts, partsErr)
		}
	})
}
