package origin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
)

func dial(t *testing.T, s *Server) *net.TCPConn {
	t.Helper()
	return servetest.Dial(t, s.Addresses()["http"])
}

// withoutDate cuts the field whose value is not known.
func withoutDate(answer string) string {
	before, rest, ok := strings.Cut(answer, "Date: ")
	if !ok {
		return answer
	}
	_, after, _ := strings.Cut(rest, "\r\n")
	return before + withoutDate(after)
}

const (
	ok     = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n"
	smallK = ok + "\r\n" + Small
	smallC = ok + "Connection: close\r\n\r\n" + Small
)

func refusal(code int) string {
	body := fmt.Sprintf("%d %s\n", code, http.StatusText(code))
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", code, http.StatusText(code), len(body), body)
}

// TestWire sends bytes and compares all that comes back until the server closes, which it does after the last request of
// each case, or because the client has ended its side.
func TestWire(t *testing.T) {
	const get = "GET /small HTTP/1.1\r\nHost: x\r\n"
	const last = get + "Connection: close\r\n\r\n"
	for _, test := range []struct{ name, send, want string }{
		{"pipelined", get + "\r\n" + get + "\r\n" + last, smallK + smallK + smallC},
		{"head among others", "HEAD /small HTTP/1.1\r\nHost: x\r\n\r\n" + last, ok + "\r\n" + smallC},
		{"no body with 204", "GET /status/204 HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 204 No Content\r\n\r\n" + smallC},
		{"no body with 304", "GET /status/304 HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 304 Not Modified\r\n\r\n" + smallC},
		{"empty body with 205", "GET /status/205 HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 205 Reset Content\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n" + smallC},
		{"code without a name", "GET /status/599 HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 599 \r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n599 \n" + smallC},
		{"1.0 closes", "GET /small HTTP/1.0\r\n\r\n", smallC},
		{"more after the last", last + strings.Repeat(last, 50), smallC},
		{"1.0 keep-alive", "GET /small HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + last, ok + "Connection: keep-alive\r\n\r\n" + Small + smallC},
		{"1.0 has no chunks", "GET /chunked/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n012"},
		{"chunks", "GET /chunked/16385 HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n" + string(servetest.Body(16384)) + "\r\n1\r\n0\r\n0\r\n\r\n" + smallC},
		{"absolute form", "GET http://x:80/small?a HTTP/1.1\r\nHost: x\r\nConnection: foo , CLOSE\r\n\r\n", smallC},
		{"counted body", "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" + last, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n5\n" + smallC},
		{"chunked body", "POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Trailer: y\r\n\r\n" + last, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n13\n" + smallC},
		{"continue", "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n0\n"},
		{"unread body of a path that has none", "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + last, smallK + smallC},
		{"not found", "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + last, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\n404 Not Found\n" + smallC},

		{"good, then bad", get + "\r\n" + "BAD\r\n\r\n", smallK + refusal(400)},
		{"no version", "GET /small\r\n\r\n", refusal(400)},
		{"a version to come", "GET /small HTTP/2.0\r\nHost: x\r\n\r\n", refusal(505)},
		{"bare LF", "GET /small HTTP/1.1\nHost: x\n\n", refusal(400)},
		{"bare LF in the head", "GET /small HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", refusal(400)},
		{"bare CR", "GET /small HTTP/1.1\r\nHost: x\r\nA: b\rc: d\r\n\r\n", refusal(400)},
		{"empty line first", "\r\n" + last, refusal(400)},
		{"no host", "GET /small HTTP/1.1\r\n\r\n", refusal(400)},
		{"two hosts", get + "Host: x\r\n\r\n", refusal(400)},
		{"host with a path", "GET /small HTTP/1.1\r\nHost: x/y\r\n\r\n", refusal(400)},
		{"space before colon", get + "A : b\r\n\r\n", refusal(400)},
		{"folded", get + "A: b\r\n c\r\n\r\n", refusal(400)},
		{"no colon", get + "A\r\n\r\n", refusal(400)},
		{"no name", get + ": b\r\n\r\n", refusal(400)},
		{"control character", get + "A: b\x00c\r\n\r\n", refusal(400)},
		{"two spaces", "GET  /small HTTP/1.1\r\nHost: x\r\n\r\n", refusal(400)},
		{"relative path", "GET small HTTP/1.1\r\nHost: x\r\n\r\n", refusal(400)},
		{"half an escape", "GET /sm%4 HTTP/1.1\r\nHost: x\r\n\r\n", refusal(400)},
		{"fragment", "GET /small#a HTTP/1.1\r\nHost: x\r\n\r\n", refusal(400)},
		{"tunnel", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", refusal(405)},
		{"two lengths", get + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", refusal(400)},
		{"list of lengths", get + "Content-Length: 3, 3\r\n\r\nabc", refusal(400)},
		{"signed length", get + "Content-Length: +3\r\n\r\nabc", refusal(400)},
		{"length and chunks", get + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refusal(400)},
		{"chunks in 1.0", "POST /upload HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refusal(400)},
		{"unknown coding", get + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", refusal(501)},
		{"unknown expectation", get + "Expect: miracles\r\n\r\n", refusal(417)},
		{"bad chunk size", get + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", refusal(400)},
		{"chunk too long for its size", get + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", refusal(400)},
		{"bare LF after a chunk size", get + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n", refusal(400)},
		{"huge chunk size", get + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", refusal(400)},
		{"head too large", get + "A: " + strings.Repeat("x", MaxHead) + "\r\n\r\n", refusal(431)},
		{"target too long", "GET /" + strings.Repeat("x", MaxHead) + " HTTP/1.1\r\n\r\n", refusal(414)},
		{"head that just fits", get + "A: " + strings.Repeat("x", MaxHead-len(last)-5) + "\r\nConnection: close\r\n\r\n", smallC},
		{"half a request", "GET /small HT", ""},
		{"half a body", "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell", ""},
	} {
		for _, piece := range []int{0, 7, 1} { // at once, or in pieces of so many bytes
			if piece > 0 && len(test.send) > 2000 {
				continue
			}
			t.Run(fmt.Sprint(test.name, " in pieces of ", piece), func(t *testing.T) {
				s := start(t, func(s *Spec) { s.Listen = map[string]string{"http": "127.0.0.1:0"} })
				c := dial(t, s)
				go func() {
					if piece == 0 {
						piece = len(test.send)
					}
					for rest := test.send; rest != ""; rest = rest[min(piece, len(rest)):] {
						if _, err := io.WriteString(c, rest[:min(piece, len(rest))]); err != nil {
							return // refused before its end
						}
					}
					c.CloseWrite()
				}()
				got, err := io.ReadAll(c)
				if err != nil || withoutDate(string(got)) != test.want {
					t.Errorf("got %.600q (%v)\nwant %.600q", withoutDate(string(got)), err, test.want)
				}
				if strings.Count(string(got), "Date: ") != strings.Count(string(got), "HTTP/1.1 ") {
					t.Error("an answer without Date")
				}
			})
		}
	}
}

func TestContinue(t *testing.T) {
	s := start(t)
	c := dial(t, s)
	r := bufio.NewReader(c)
	fmt.Fprint(c, "PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n")
	line, err := r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	r.ReadString('\n')
	fmt.Fprint(c, "abc")
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(answer.Body); string(body) != "3\n" {
		t.Errorf("got %q", body)
	}
}

// TestSlowReader: an answer that the socket does not take at once arrives whole, and others behind it too.
func TestSlowReader(t *testing.T) {
	s := start(t)
	c := dial(t, s)
	c.SetReadBuffer(64 << 10)
	const n = 20
	go fmt.Fprint(c, strings.Repeat("GET /100k HTTP/1.1\r\nHost: x\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n", n))
	time.Sleep(50 * time.Millisecond) // let the buffers fill
	r := bufio.NewReader(c)
	for range n {
		for _, want := range [][]byte{servetest.Body(102400), []byte(Small)} {
			answer, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != string(want) {
				t.Fatalf("%d bytes (%v), want %d", len(body), err, len(want))
			}
		}
	}
	s.Stop(t.Context())
	if l := s.Sample().Listeners["http"]; l.Answered != 2*n || l.Classes["100k"] != (Class{n, n}) || l.BytesOut < n*102400 {
		t.Errorf("counted %+v", l)
	}
}

func TestIdleTimeout(t *testing.T) {
	for timeout := 30 * time.Millisecond; ; timeout *= 4 {
		s := start(t, func(s *Spec) { s.IdleTimeout = timeout })
		c := dial(t, s)
		fmt.Fprint(c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\nPOST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
		time.Sleep(2 * timeout) // a request that has begun is not idle
		fmt.Fprint(c, "x")
		got, err := io.ReadAll(c)
		if len(got) == 0 && timeout < servetest.Patience {
			continue // this machine stood still between connecting and sending: that was idle
		}
		if err != nil || !strings.HasSuffix(string(got), "\r\n\r\n1\n") {
			t.Errorf("got %q, %v", got, err)
		}
		break
	}
}

// TestHalfClosed: a client that ends its side at once still gets its answer, and the connection is not kept.
func TestHalfClosed(t *testing.T) {
	s := start(t)
	c := dial(t, s)
	fmt.Fprint(c, "GET /delay/20ms HTTP/1.1\r\nHost: x\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n")
	c.CloseWrite()
	got, err := io.ReadAll(c)
	if want := smallK + smallK; err != nil || withoutDate(string(got)) != want {
		t.Errorf("got %q, %v", got, err)
	}
}
