package load

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A paper is a wire of which nothing comes but what the test writes itself: what connections write is kept.
type paper struct {
	written [][]byte // of each connection that was dialled
	of      map[*conn]int
}

func (w *paper) connect(c *conn) error {
	w.of[c] = len(w.written)
	w.written = append(w.written, nil)
	return nil
}

func (w *paper) send(c *conn, b []byte) { w.written[w.of[c]] = append(w.written[w.of[c]], b...) }

func (w *paper) flush(c *conn) {
	w.send(c, c.out)
	c.out = c.out[:0]
}

func (w *paper) pending(*conn) bool { return false }
func (w *paper) drop(*conn)         {}
func (w *paper) poll(int64) bool    { return false }
func (w *paper) next() int64        { return never }
func (w *paper) wake()              {}
func (w *paper) close()             {}

// A listener is a sink that keeps what it hears.
type listener struct {
	outcomes map[*request][]outcome
	counts   Counts
}

func (s *listener) sent(*request, int64, int)                             { s.counts.Sent++ }
func (s *listener) received(int64, int)                                   {}
func (s *listener) retried(int64)                                         { s.counts.ReuseRetried++ }
func (s *listener) goneAway(int64)                                        { s.counts.Goaways++ }
func (s *listener) retriedAway(int64)                                     { s.counts.Retried++ }
func (s *listener) retriedRefusal(int64)                                  { s.counts.Refused++ }
func (s *listener) finished(r *request, o outcome)                        { s.outcomes[r] = append(s.outcomes[r], o) }
func (s *listener) freed()                                                {}
func (s *listener) opened(outcome)                                        {}
func (s *listener) connected(int64, int64)                                {}
func (s *listener) secured(int64, int64, *tls.ConnectionState, shakeSize) {}
func (s *listener) noted(string)                                          {}

// answerTo lets a server say something to a pool that has sent three requests, some bytes at a time, and gives all that
// happened as a text, and how much of it was handled if the connection is still there, else 0.
func answerTo(t *testing.T, body []byte, said []byte, piece int) (text string, written []byte, handled int) {
	spec := Spec{Protocol: "h2c", Address: "127.0.0.1:1", Method: "POST", Body: body, Connections: 1, Streams: 4, Reuse: true, By: "a"}
	j, err := newJob(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &listener{outcomes: map[*request][]outcome{}}
	w := &paper{of: map[*conn]int{}}
	p := newPool(j, nil, func() int64 { return 1 }, s)
	p.wire = w
	var requests []*request
	for range 3 {
		r := &request{form: j.forms[0]}
		r.timeout.of = r
		requests = append(requests, r)
		p.send(r)
	}
	c := p.conns[0]
	c.connected(nil)
	gen := c.gen
	for rest := said; len(rest) > 0 && c.gen == gen; {
		n := min(len(rest), piece)
		c.arrived(slices.Clone(rest[:n]))
		rest = rest[n:]
		p.flush()
	}
	if c.gen == gen {
		h := c.proto.(*h2)
		handled = len(said) - len(h.part)
		if h.streams.n != c.load-len(c.waiting) {
			t.Errorf("%d streams, %d requests of which %d wait", h.streams.n, c.load, len(c.waiting))
		}
	}
	p.expire(outcome{class: Timeout, reason: "over"})
	for i, r := range requests {
		if len(s.outcomes[r]) != 1 {
			t.Errorf("request %d has the outcomes %v", i, s.outcomes[r])
		}
		text += fmt.Sprintf("%d: %+v\n", i, s.outcomes[r])
		if s.outcomes[r][0].class == "" {
			text += fmt.Sprintf("%d bytes, by %q\n", r.bytes, r.by)
		}
	}
	if p.inFlight != 0 || p.opens != 0 {
		t.Errorf("%d requests in flight, %d connections open", p.inFlight, p.opens)
	}
	return text + fmt.Sprintf("%+v", s.counts), w.written[0], handled
}

// frames writes a server's part by x/net's Framer, after its settings.
func frames(settings []http2.Setting, write func(p *peer)) []byte {
	var buf bytes.Buffer
	p := &peer{Framer: http2.NewFramer(&buf, nil)}
	p.AllowIllegalWrites = true
	p.encoder = hpack.NewEncoder(&p.block)
	p.WriteSettings(settings...)
	write(p)
	return buf.Bytes()
}

// FuzzH2: whatever a server says, every request has one outcome, which does not depend on how the bytes arrive; what is said
// back is HTTP/2; and what another implementation takes for a connection error ends the connection.
func FuzzH2(f *testing.F) {
	for _, e := range slices.Concat(h2Exchanges, h2Ends) {
		if e.script != nil && e.name != "stops within a frame" && e.says[:min(len(e.says), 6)] != "closed" {
			f.Add(frames(nil, func(p *peer) {
				for _, id := range []uint32{1, 3, 5} {
					e.script(p, id)
				}
			}), uint16(0))
		}
	}
	f.Add(frames([]http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}, {ID: http2.SettingInitialWindowSize, Val: 10}}, func(p *peer) {
		p.WriteWindowUpdate(1, 5)
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}, http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20})
		p.ok(1)
		p.WriteWindowUpdate(0, 1<<20)
		p.WriteRSTStream(3, http2.ErrCodeRefusedStream)
		p.WriteGoAway(3, http2.ErrCodeNo, nil)
	}), uint16(50_000))
	f.Add(frames(nil, func(p *peer) {
		p.WriteGoAway(1<<31-1, http2.ErrCodeNo, []byte("soon"))
		p.WriteGoAway(3, http2.ErrCodeNo, nil)
		p.ok(1)
		p.ok(3)
	}), uint16(1))
	f.Fuzz(func(t *testing.T, said []byte, length uint16) {
		body := make([]byte, length)
		whole, written, handled := answerTo(t, body, said, len(said))
		for _, piece := range []int{1, 7} {
			if text, again, _ := answerTo(t, body, said, piece); text != whole || !bytes.Equal(again, written) {
				t.Errorf("%d bytes at a time: %s\nall at once: %s", piece, text, whole)
			}
		}
		reader := http2.NewFramer(nil, bytes.NewReader(bytes.TrimPrefix(written, []byte(http2.ClientPreface))))
		reader.SetMaxReadFrameSize(1<<24 - 1)
		reader.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for {
			if _, err := reader.ReadFrame(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("what was written: %v", err)
			}
		}
		reader = http2.NewFramer(nil, bytes.NewReader(said[:handled]))
		reader.SetMaxReadFrameSize(maxFrame)
		for {
			_, err := reader.ReadFrame()
			if why := reader.ErrorDetail(); why != nil && strings.Contains(why.Error(), "PRIORITY_UPDATE") {
				return // of an extension, which may be ignored by those who do not know it
			}
			if _, broken := errors.AsType[http2.ConnectionError](err); broken || errors.Is(err, http2.ErrFrameTooLarge) {
				t.Fatalf("the connection goes on after %v", err)
			}
			if _, ok := errors.AsType[http2.StreamError](err); err != nil && !ok {
				return
			}
		}
	})
}
