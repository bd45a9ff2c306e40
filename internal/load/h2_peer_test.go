package load

import (
	"bytes"
	"crypto/tls"
	"io"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A peer is one connection of a scripted HTTP/2 server. What it reads and writes goes through x/net's Framer, which also
// checks what the load writes.
type peer struct {
	*scene
	*http2.Framer
	book    *book
	encoder *hpack.Encoder
	block   bytes.Buffer
}

// A book keeps what happened on all connections of a scripted server.
type book struct {
	mu     sync.Mutex
	events []string
}

func (b *book) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, text)
}

// count counts the events that begin with a text.
func (b *book) count(text string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if strings.HasPrefix(e, text) {
			n++
		}
	}
	return n
}

func (b *book) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.events, "; ")
}

// pieces writes a few bytes at a time.
type pieces struct {
	w io.Writer
	n int
}

func (p pieces) Write(b []byte) (int, error) {
	for i := 0; i < len(b); i += p.n {
		if _, err := p.w.Write(b[i:min(len(b), i+p.n)]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

// playH2 starts a scripted HTTP/2 server. The script begins after the client's preface.
func playH2(t *testing.T, secure *tls.Config, piece int, script func(*peer)) (*scriptedServer, *book) {
	t.Helper()
	if secure != nil {
		secure.NextProtos = []string{"h2"}
	}
	b := &book{}
	return play(t, "127.0.0.1:0", secure, piece, func(x *scene) {
		var w io.Writer = x.Conn
		if piece > 0 {
			w = pieces{x.Conn, piece}
		}
		p := &peer{scene: x, Framer: http2.NewFramer(w, x.in), book: b}
		p.AllowIllegalWrites = true
		p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		p.encoder = hpack.NewEncoder(&p.block)
		got := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(x.in, got); err != nil || string(got) != http2.ClientPreface {
			return
		}
		script(p)
	}), b
}

// An asked request is one that the server has read to its end.
type asked struct {
	id     uint32
	fields map[string]string
	body   []byte
}

// hear reads a frame and notes what may be of interest; nil at the end.
func (p *peer) hear() http2.Frame {
	f, err := p.ReadFrame()
	if err != nil {
		if _, ok := err.(http2.StreamError); ok || strings.Contains(err.Error(), "connection error") {
			p.book.note("MALFORMED " + err.Error())
		}
		return nil
	}
	switch f := f.(type) {
	case *http2.RSTStreamFrame:
		p.book.note("RST_STREAM " + f.ErrCode.String())
	case *http2.GoAwayFrame:
		p.book.note("GOAWAY " + f.ErrCode.String() + " " + string(f.DebugData()))
	case *http2.PingFrame:
		p.book.note("PING " + string(f.Data[:]))
		if !f.IsAck() {
			p.WritePing(true, f.Data)
		}
	case *http2.SettingsFrame:
		if f.IsAck() {
			p.book.note("SETTINGS ack")
		} else {
			p.WriteSettingsAck()
		}
	}
	return f
}

// ask reads up to the end of the next request; nil at the end of the connection.
func (p *peer) ask() *asked {
	open := map[uint32]*asked{}
	for {
		switch f := p.hear().(type) {
		case nil:
			return nil
		case *http2.MetaHeadersFrame:
			a := &asked{id: f.StreamID, fields: map[string]string{}}
			for _, h := range f.Fields {
				a.fields[h.Name] = h.Value
			}
			if open[a.id] = a; f.StreamEnded() {
				p.book.note("request")
				return a
			}
		case *http2.DataFrame:
			a := open[f.StreamID]
			a.body = append(a.body, f.Data()...)
			if f.StreamEnded() {
				p.book.note("request")
				return a
			}
		}
	}
}

// fields encodes a header: names and values in turn.
func (p *peer) fields(texts ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(texts); i += 2 {
		p.encoder.WriteField(hpack.HeaderField{Name: texts[i], Value: texts[i+1]})
	}
	return p.block.Bytes()
}

// head writes a header.
func (p *peer) head(id uint32, end bool, texts ...string) {
	p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.fields(texts...), EndHeaders: true, EndStream: end})
}

// ok answers.
func (p *peer) ok(id uint32) {
	p.head(id, false, ":status", "200", "content-length", "2")
	p.WriteData(id, true, []byte("ok"))
}
