package load

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// An h2Exchange is what a server does with each of four requests, the first being the verification, and what becomes of
// the other three.
type h2Exchange struct {
	name   string
	script func(p *peer, id uint32) // of each request
	greet  func(p *peer)            // instead of empty SETTINGS
	change func(*Spec)
	long   bool // pieces of a byte would take too long
	asked  int  // requests that the server saw; 0 is 4, -1 as many as came

	ok     int64
	non2xx map[int]int64
	errors map[string]int64
	says   string // an example
	sees   string // an event on the server
}

// failing is the outcome of all three.
func failing(class string) map[string]int64 { return map[string]int64{class: 3} }

var h2Exchanges = []h2Exchange{
	{name: "an answer", script: func(p *peer, id uint32) { p.ok(id) }, ok: 3},
	{name: "without a length", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		p.WriteData(id, false, []byte("o"))
		p.WriteData(id, false, nil)
		p.WriteData(id, false, []byte("k"))
		p.WriteData(id, true, nil)
	}, change: func(s *Spec) {
		s.Expect = Expect{Bytes: size(2), SHA256: "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"}
	}, ok: 3},
	{name: "no body", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200") }, ok: 3},
	{name: "padding, priorities and unknown frames", script: func(p *peer, id uint32) {
		p.WriteRawFrame(0xfa, 0x55, id, []byte("what"))
		p.WriteRawFrame(0xfb, 0, 0, nil)
		p.WritePriority(id+2, http2.PriorityParam{StreamDep: id, Weight: 7})
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.fields(":status", "200", "content-length", "2"), EndHeaders: true, PadLength: 255, Priority: http2.PriorityParam{Weight: 9, StreamDep: 1}})
		p.WriteDataPadded(id, false, []byte("o"), make([]byte, 255))
		p.WriteDataPadded(id, false, nil, make([]byte, 7))
		p.WriteDataPadded(id, true, []byte("k"), []byte{})
	}, ok: 3},
	{name: "continuation", script: func(p *peer, id uint32) {
		block := p.fields(":status", "200", "content-length", "2", "a", strings.Repeat("bc", 3000))
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:1]})
		p.WriteContinuation(id, false, nil)
		p.WriteContinuation(id, false, block[1:9])
		p.WriteContinuation(id, true, block[9:])
		p.WriteData(id, true, []byte("ok"))
	}, ok: 3},
	{name: "continuation of the end", script: func(p *peer, id uint32) {
		block := p.fields(":status", "200")
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndStream: true})
		p.WriteContinuation(id, true, block)
	}, ok: 3},
	{name: "trailers", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "2")
		p.WriteData(id, false, []byte("ok"))
		p.head(id, true, "a", "b")
	}, ok: 3},
	{name: "interim answers", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "100")
		p.head(id, false, ":status", "103", "content-length", "77")
		p.ok(id)
	}, ok: 3},
	{name: "204", script: func(p *peer, id uint32) { p.head(id, true, ":status", "204") }, ok: 3},
	{name: "304 with a length", script: func(p *peer, id uint32) { p.head(id, true, ":status", "304", "content-length", "9") },
		change: func(s *Spec) { s.Expect.Status = 304 }, ok: 3},
	{name: "HEAD", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", "content-length", "9") },
		change: func(s *Spec) { s.Method = "HEAD" }, ok: 3},
	{name: "503", script: func(p *peer, id uint32) { p.head(id, true, ":status", "503") }, non2xx: map[int]int64{503: 3}},
	{name: "reset after the answer", script: func(p *peer, id uint32) {
		p.ok(id)
		p.WriteRSTStream(id, http2.ErrCodeNo)
		p.WriteWindowUpdate(id, 5)
	}, ok: 3},
	{name: "a table of size 0", script: func(p *peer, id uint32) {
		p.encoder.SetMaxDynamicTableSize(0)
		block := p.fields(":status", "200")
		block = append(block, "\x40\x01a\x01b"...) // to be added to the table, which takes nothing
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
	}, ok: 3},
	{name: "PING and SETTINGS", script: func(p *peer, id uint32) {
		p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20}, http2.Setting{ID: 0x99, Val: 1})
		p.WritePing(false, [8]byte([]byte("12345678")))
		p.ok(id)
	}, ok: 3, sees: "PING 12345678"},

	{name: "a body shorter than its length", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "3")
		p.WriteData(id, true, []byte("ok"))
	}, errors: failing(Protocol), says: "the body ends 1 bytes before its content-length"},
	{name: "a body longer than its length", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "1")
		p.WriteData(id, false, []byte("ok"))
		p.WriteData(id, false, []byte("and more"))
	}, errors: failing(Protocol), says: "longer than its content-length", sees: "RST_STREAM PROTOCOL_ERROR"},
	{name: "a header that ends with a length", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", "content-length", "2") },
		errors: failing(Protocol), says: "the body ends 2 bytes before"},
	{name: "204 with a body", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "204")
		p.WriteData(id, true, []byte("ok"))
	}, errors: failing(Protocol), says: "a body where there can be none"},
	{name: "HEAD with a body", script: func(p *peer, id uint32) { p.ok(id) }, change: func(s *Spec) { s.Method = "HEAD" },
		errors: failing(Protocol), says: "a body where there can be none"},
	{name: "DATA first", script: func(p *peer, id uint32) { p.WriteData(id, false, []byte("ok")) }, errors: failing(Protocol), says: "DATA before a final status"},
	{name: "DATA after an interim answer", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "100")
		p.WriteData(id, true, []byte("ok"))
	}, errors: failing(Protocol), says: "DATA before a final status"},
	{name: "no status", script: func(p *peer, id uint32) { p.head(id, true, "a", "b") }, errors: failing(Protocol), says: "without :status"},
	{name: "no status at all", script: func(p *peer, id uint32) { p.head(id, true) }, errors: failing(Protocol), says: "without :status"},
	{name: "a status that is none", script: func(p *peer, id uint32) { p.head(id, true, ":status", "20x") }, errors: failing(Protocol), says: `status "20x"`},
	{name: "a status of two digits", script: func(p *peer, id uint32) { p.head(id, true, ":status", "20") }, errors: failing(Protocol), says: `status "20"`},
	{name: "two statuses", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":status", "200") }, errors: failing(Protocol), says: "pseudo-header"},
	{name: "a status after a field", script: func(p *peer, id uint32) { p.head(id, true, "a", "b", ":status", "200") }, errors: failing(Protocol), says: "pseudo-header"},
	{name: "a request's pseudo-header", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":path", "/") }, errors: failing(Protocol), says: ":path"},
	{name: "101", script: func(p *peer, id uint32) { p.head(id, false, ":status", "101") }, errors: failing(Protocol), says: "status 101"},
	{name: "an interim answer that ends", script: func(p *peer, id uint32) { p.head(id, true, ":status", "103") }, errors: failing(Protocol), says: "ends with status 103"},
	{name: "too many interim answers", script: func(p *peer, id uint32) {
		for range maxInterim + 1 {
			p.head(id, false, ":status", "103")
		}
	}, errors: failing(Protocol), says: "more than 16 interim"},
	{name: "an upper-case name", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", "Aa", "b") }, errors: failing(Protocol), says: `"Aa"`},
	{name: "a line break", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", "a", "b\r\nc: d") }, errors: failing(Protocol), says: "control character"},
	{name: "a header of HTTP/1", script: func(p *peer, id uint32) { p.head(id, true, ":status", "200", "transfer-encoding", "chunked") }, errors: failing(Protocol), says: "transfer-encoding"},
	{name: "two lengths", script: func(p *peer, id uint32) {
		p.head(id, true, ":status", "200", "content-length", "0", "content-length", "1")
	},
		errors: failing(Protocol), says: "two different content-lengths"},
	{name: "a header that is too long", script: func(p *peer, id uint32) {
		var texts []string
		for range 18 {
			texts = append(texts, "a", strings.Repeat("b", 4000))
		}
		block := p.fields(texts...) // indices into the table, most of them
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
	}, errors: failing(Protocol), says: "a header of more than 65536 bytes"},
	{name: "trailers that do not end", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		p.head(id, false, "a", "b")
	}, errors: failing(Protocol), says: "no trailer"},
	{name: "trailers with a status", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		p.head(id, true, ":status", "200")
	}, errors: failing(Protocol), says: "no trailer"},
	{name: "a window update by 0", script: func(p *peer, id uint32) { p.WriteWindowUpdate(id, 0) }, errors: failing(Protocol), says: "WINDOW_UPDATE by 0"},

	{name: "reset", script: func(p *peer, id uint32) { p.WriteRSTStream(id, http2.ErrCodeEnhanceYourCalm) }, errors: failing(Reset), says: "the server reset the stream: ENHANCE_YOUR_CALM"},
	{name: "reset within an answer", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		p.WriteRSTStream(id, http2.ErrCodeNo)
	}, errors: failing(Reset), says: "the server reset the stream: NO_ERROR"},
	{name: "reset with an unknown code", script: func(p *peer, id uint32) { p.WriteRSTStream(id, 0xbeef) }, errors: failing(Reset), says: "error 0xbeef"},
	{name: "no answer", script: func(p *peer, id uint32) {}, change: func(s *Spec) { s.Timeout = 100 * time.Millisecond },
		errors: failing(Timeout), says: "no answer within 100ms", sees: "RST_STREAM CANCEL"},
	{name: "stops within a frame", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		p.Conn.Write([]byte{0, 0, 5, 0, 1, 0, 0, 0, byte(id), 'o'})
		for f := p.hear(); f != nil && f.Header().Type != http2.FrameRSTStream; f = p.hear() {
		}
		p.Conn.Write([]byte("kkkk"))
	}, change: func(s *Spec) { s.Timeout = 100 * time.Millisecond; s.Streams = 1 }, asked: -1, errors: failing(Timeout), sees: "RST_STREAM CANCEL"},
}

// h2Ends are exchanges that end the connection: each request has one of its own.
var h2Ends = []h2Exchange{
	{name: "closed before an answer", script: func(p *peer, id uint32) { p.Conn.Close() }, errors: failing(Reset), says: "closed before an answer"},
	{name: "closed within an answer", script: func(p *peer, id uint32) {
		p.head(id, false, ":status", "200", "content-length", "2")
		p.Conn.Close()
	}, errors: failing(Reset), says: "closed within an answer"},
	{name: "push", script: func(p *peer, id uint32) {
		p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: p.fields(":path", "/"), EndHeaders: true})
	}, errors: failing(Protocol), says: "PUSH_PROMISE", sees: "GOAWAY PROTOCOL_ERROR"},
	{name: "a header that cannot be decoded", script: func(p *peer, id uint32) {
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0xff, 0x7f}, EndHeaders: true})
	}, errors: failing(Protocol), says: "a header block: ", sees: "GOAWAY COMPRESSION_ERROR"},
	{name: "a header without an end", long: true, script: func(p *peer, id uint32) {
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: make([]byte, 16000)})
		for range 4 {
			p.WriteContinuation(id, false, make([]byte, 16000))
		}
	}, errors: failing(Protocol), says: "a header is longer than 65536 bytes", sees: "GOAWAY ENHANCE_YOUR_CALM"},
	{name: "a frame within a header", script: func(p *peer, id uint32) {
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.fields(":status", "200")})
		p.WritePing(false, [8]byte{})
	}, errors: failing(Protocol), says: "within the header", sees: "GOAWAY PROTOCOL_ERROR"},
	{name: "continuation of nothing", script: func(p *peer, id uint32) { p.WriteContinuation(id, true, p.fields(":status", "200")) },
		errors: failing(Protocol), says: "without HEADERS", sees: "GOAWAY PROTOCOL_ERROR"},
	{name: "a stream that was not opened", script: func(p *peer, id uint32) { p.ok(id + 2) }, errors: failing(Protocol), says: "which was not opened", sees: "GOAWAY PROTOCOL_ERROR"},
	{name: "the server's own stream", script: func(p *peer, id uint32) { p.ok(2) }, errors: failing(Protocol), says: "which was not opened"},
	{name: "a reset of what was not opened", script: func(p *peer, id uint32) { p.WriteRSTStream(id+2, 0) }, errors: failing(Protocol), says: "which was not opened"},
	{name: "DATA on stream 0", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) }, errors: failing(Protocol), says: "DATA of stream 0"},
	{name: "a frame that is too long", long: true, script: func(p *peer, id uint32) { p.WriteData(id, true, make([]byte, 16385)) }, errors: failing(Protocol), says: "a frame of 16385 bytes", sees: "GOAWAY FRAME_SIZE_ERROR"},
	{name: "too much padding", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, id, []byte{9, 'o'}) }, errors: failing(Protocol), says: "padding of 9 bytes"},
	{name: "too much padding of a header", script: func(p *peer, id uint32) {
		p.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, id, []byte{9, 0x88})
	}, errors: failing(Protocol), says: "padding of 9 bytes"},
	{name: "a short PING", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FramePing, 0, 0, []byte("x")) }, errors: failing(Protocol), says: "PING of 1 bytes"},
	{name: "a short RST_STREAM", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameRSTStream, 0, id, nil) }, errors: failing(Protocol), says: "RST_STREAM of 0 bytes"},
	{name: "a short GOAWAY", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameGoAway, 0, 0, nil) }, errors: failing(Protocol), says: "GOAWAY of 0 bytes"},
	{name: "a short WINDOW_UPDATE", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, nil) }, errors: failing(Protocol), says: "WINDOW_UPDATE of 0 bytes"},
	{name: "too large a window", script: func(p *peer, id uint32) { p.WriteWindowUpdate(0, 1<<31-1) }, errors: failing(Protocol), says: "too large", sees: "GOAWAY FLOW_CONTROL_ERROR"},
	{name: "SETTINGS of half a setting", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameSettings, 0, 0, []byte("abc")) }, errors: failing(Protocol), says: "SETTINGS of 3 bytes"},
	{name: "SETTINGS on a stream", script: func(p *peer, id uint32) { p.WriteRawFrame(http2.FrameSettings, 0, id, nil) }, errors: failing(Protocol), says: "SETTINGS on stream"},
	{name: "the push setting", script: func(p *peer, id uint32) { p.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 1}) }, errors: failing(Protocol), says: "ENABLE_PUSH is 1"},
	{name: "too large a window setting", script: func(p *peer, id uint32) {
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
	},
		errors: failing(Protocol), says: "INITIAL_WINDOW_SIZE is", sees: "GOAWAY FLOW_CONTROL_ERROR"},
	{name: "too small frames", script: func(p *peer, id uint32) { p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16383}) },
		errors: failing(Protocol), says: "MAX_FRAME_SIZE is 16383"},
	{name: "GOAWAY with an error and the end", script: func(p *peer, id uint32) {
		p.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("too fast"))
		p.Conn.Close()
	}, errors: failing(Reset), says: `closed before an answer, after GOAWAY ENHANCE_YOUR_CALM "too fast"`},
	{name: "no HTTP/2", greet: func(p *peer) { fmt.Fprint(p.Conn, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		errors: failing(Protocol), says: `the server does not begin with SETTINGS: "HTTP/1.1 `},
	{name: "no SETTINGS first", greet: func(p *peer) { p.WritePing(false, [8]byte{}) }, errors: failing(Protocol), says: "does not begin with SETTINGS", sees: "GOAWAY PROTOCOL_ERROR"},
	{name: "never SETTINGS", greet: func(p *peer) { io.Copy(io.Discard, p.in) }, change: func(s *Spec) { s.DialTimeout = 50 * time.Millisecond }, errors: failing(Protocol), says: "no HTTP/2 settings within 50ms"},
	{name: "closed instead of SETTINGS", greet: func(p *peer) { p.Conn.Close() }, errors: failing(Reset), says: "closed before the first request"},
}

func TestH2Exchanges(t *testing.T) {
	for _, way := range passages[:3] {
		for _, e := range h2Exchanges {
			t.Run(way.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				e.run(t, way, true)
			})
		}
	}
}

func TestH2Ends(t *testing.T) {
	for _, way := range passages[:2] {
		for _, e := range h2Ends {
			if way.piece > 0 && e.name == "no HTTP/2" { // the rest of it comes too late
				continue
			}
			t.Run(way.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				e.run(t, way, false)
			})
		}
	}
}

func (e *h2Exchange) run(t *testing.T, way passage, kept bool) {
	var secure *tls.Config
	spec := Spec{Protocol: "h2c", Wire: way.wire, Connections: 1, Streams: 4, Reuse: true, Timeout: 20 * time.Second, Rate: []RateStep{{300, 300, 10 * time.Millisecond}}}
	if way.secure {
		secure, spec.Protocol, spec.Scheme = certified(t), "h2", "https"
	}
	if !kept {
		spec.Streams = 1
	}
	if e.long {
		way.piece *= 1000
	}
	if e.change != nil {
		e.change(&spec)
	}
	server, book := playH2(t, secure, way.piece, func(p *peer) {
		if e.greet != nil {
			e.greet(p)
		} else {
			p.WriteSettings()
		}
		for a := p.ask(); a != nil; a = p.ask() {
			e.script(p, a.id)
		}
	})
	spec.Address = server.address
	s, ready := begin(t, spec)
	if e.ok > 0 && (ready.Problem != "" || ready.Verified != 1) {
		t.Errorf("ready: %+v", ready)
	}
	time.Sleep(10 * time.Millisecond)
	c := s.stop().Counts
	if c.Due != 3 || c.OK != e.ok || c.Generator != 0 || !equal(c.Errors, e.errors) || !equal(c.Non2xx, e.non2xx) {
		t.Errorf("outcomes: %s", s.outcomes())
	}
	if accepted := server.accepted.Load(); c.Opened != accepted || kept && accepted != 1 {
		t.Errorf("opened %d, accepted %d", c.Opened, accepted)
	}
	if !strings.Contains(strings.Join(s.examples, "\n"), e.says) {
		t.Errorf("examples %q, want one with %q", s.examples, e.says)
	}
	want := e.asked
	if want == 0 && e.script != nil {
		want = 4
	}
	if book.count("MALFORMED") > 0 || e.sees != "" && book.count(e.sees) == 0 || want >= 0 && book.count("request") != want {
		t.Errorf("the server saw %s", book.all())
	}
}
