package origin

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// Small is the answer of /small: 13 bytes.
const Small = "hello, world\n"

const line = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n" // 64 bytes

// block is what longer bodies are cut from. It is small enough to stay in a CPU's cache, and bodies are written in pieces
// of it: 100 KiB in four writes of the same memory cost a third less CPU than in one write.
var block = bytes.Repeat([]byte(line), 512)

// pieceOf is a body's next piece, from a position in it to another, or to the block's end.
func pieceOf(from, to int64) []byte {
	piece := block[from%int64(len(block)):]
	return piece[:min(int64(len(piece)), to-from)]
}

// How an answer says what becomes of the connection.
type persistence uint8

const (
	stays persistence = iota // HTTP/1.1 says nothing
	ends                     // Connection: close
	kept                     // Connection: keep-alive, for HTTP/1.0
	persistences
)

var persistenceField = [persistences]string{stays: "", ends: "Connection: close\r\n", kept: "Connection: keep-alive\r\n"}

// forms are the parts of answers that were prepared, made anew each second for the Date.
type forms struct {
	fields  []byte               // Date, and x-served-by where it is on; each with its CRLF
	small   [persistences][]byte // the whole answer
	hundred [persistences][]byte // its head
}

func newForms(now time.Time, servedBy string) *forms {
	f := &forms{fields: now.UTC().AppendFormat([]byte("Date: "), http.TimeFormat)}
	f.fields = append(f.fields, "\r\n"...)
	if servedBy != "" {
		f.fields = append(f.fields, "x-served-by: "+servedBy+"\r\n"...)
	}
	for p := range persistences {
		f.small[p] = append(f.appendHead(nil, 200, int64(len(Small)), p), Small...)
		f.hundred[p] = f.appendHead(nil, 200, 100<<10, p)
	}
	return f
}

// Lengths that are none.
const (
	withoutLength = -1 // the answer cannot have a body
	inChunks      = -2
	untilClose    = -3
)

// appendHead appends the status line and the header fields.
func (f *forms) appendHead(b []byte, code int, length int64, p persistence) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(code)...)
	b = append(b, "\r\n"...)
	b = append(b, f.fields...)
	switch {
	case length >= 0:
		b = append(b, "Content-Type: text/plain\r\nContent-Length: "...)
		b = strconv.AppendInt(b, length, 10)
		b = append(b, "\r\n"...)
	case length == inChunks:
		b = append(b, "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n"...)
	case length == untilClose:
		b = append(b, "Content-Type: text/plain\r\n"...)
	}
	b = append(b, persistenceField[p]...)
	return append(b, "\r\n"...)
}

// text is the body of an answer that is known by its status alone.
func text(code int) string {
	switch code {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return ""
	}
	return strconv.Itoa(code) + " " + http.StatusText(code) + "\n"
}

// appendStatus appends a whole answer that is known by its status alone.
func (f *forms) appendStatus(b []byte, code int, p persistence, head bool) []byte {
	body := text(code)
	length := int64(len(body))
	if code == http.StatusNoContent || code == http.StatusNotModified {
		length = withoutLength
	}
	b = f.appendHead(b, code, length, p)
	if !head {
		b = append(b, body...)
	}
	return b
}
