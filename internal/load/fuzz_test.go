package load

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
)

// FuzzHead: a head that is accepted has a status, and net/http accepts it too.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.0 304\r\nConnection: keep-alive, x\r\n\r\n",
		"HTTP/1.1 200 \r\nTransfer-Encoding:chunked\r\nBy: \t a \t\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		i := bytes.Index(head, []byte("\r\n\r\n"))
		if i < 0 {
			return
		}
		head = head[:i+4]
		r := &request{form: &form{isHead: true}}
		p := parser{watch: "By"}
		p.reset(r)
		done, err := p.feed(head)
		if err != nil {
			return
		}
		if done != (p.status != 0) || done && (p.status < 200 || p.status > 999) {
			t.Fatalf("%q: done %v with status %d", head, done, p.status)
		}
		res, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(head), 1<<17), &http.Request{Method: "HEAD"})
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", head, err)
		}
		if done && res.StatusCode != p.status {
			t.Errorf("%q: status %d, net/http: %d", head, p.status, res.StatusCode)
		}
		if by := res.Header.Values("By"); done && (len(by) > 0) != r.byGiven || r.byGiven && textproto.TrimString(by[len(by)-1]) != string(r.by) {
			t.Errorf("%q: by %q, net/http: %q", head, r.by, by)
		}
	})
}

// FuzzChunkSize: a size that is accepted is the hexadecimal number that stands there.
func FuzzChunkSize(f *testing.F) {
	for _, s := range []string{"0", "a", "FFf", "5;a=b", "5 ; a=\"b\"", "00000000000000000", "123456789abcdef", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		n, err := chunkSize(line)
		if err != nil {
			return
		}
		size, _, _ := strings.Cut(string(line), ";")
		want, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 63)
		if err != nil || uint64(n) != want {
			t.Errorf("%q: %d, want %d, %v", line, n, want, err)
		}
	})
}

// FuzzSpreadPaths: a pattern that is accepted stands for as many paths as its ranges have values together, all of which
// can be written into a request.
func FuzzSpreadPaths(f *testing.F) {
	for _, s := range []string{"/{0..3}", "/{1..2}/x/{8..9}?q=1", "/{08..10}", "/{7..7}{7..7}", "/a", "/{0..65536}", "/{3..1}", "/{{0..1}}", "/{0..1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		paths, err := SpreadPaths(pattern)
		if err != nil {
			return
		}
		want := 1
		for _, part := range strings.Split(pattern, "{")[1:] {
			var from, to int
			if _, err := fmt.Sscanf(strings.ReplaceAll(part, "..", " "), "%d %d", &from, &to); err != nil {
				t.Fatalf("%q: %v", pattern, err)
			}
			want *= to - from + 1
		}
		if len(paths) != want || want > MaxPaths {
			t.Fatalf("%q: %d paths, want %d", pattern, len(paths), want)
		}
		for _, p := range paths {
			if p[0] != '/' || strings.ContainsAny(p, "{} \r\n\x00\x7f") {
				t.Fatalf("%q: path %q", pattern, p)
			}
		}
		if _, err := newJob(Spec{Address: "a:1", Connections: 1, SpreadPath: pattern}); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	})
}
