package load

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/net/http2"
)

// A narrow is a wire that takes no more than room bytes.
type narrow struct {
	paper
	room int
}

func (w *narrow) flush(c *conn) {
	n := min(w.room, len(c.out))
	w.paper.send(c, c.out[:n])
	c.out, w.room = c.out[:copy(c.out, c.out[n:])], w.room-n
}

// TestUploadUnread: a server with windows for everything that reads slowly, or not at all, has little kept for it; what it
// takes arrives whole. A request that is given up takes its body with it.
func TestUploadUnread(t *testing.T) {
	body := pattern(3 << 20)
	j, err := newJob(Spec{Protocol: "h2c", Address: "127.0.0.1:1", Method: "POST", Body: body, Connections: 1, Streams: 8, Reuse: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &listener{outcomes: map[*request][]outcome{}}
	w := &narrow{paper: paper{of: map[*conn]int{}}}
	p := newPool(j, nil, func() int64 { return 1 }, s)
	p.wire = w
	var requests []*request
	for range 8 {
		r := &request{form: j.forms[0]}
		r.timeout.of = r
		requests = append(requests, r)
		p.send(r)
	}
	c := p.conns[0]
	c.connected(nil)
	c.arrived(frames([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: maxStream}}, func(p *peer) { p.WriteWindowUpdate(0, maxStream-65535) }))
	kept := 0
	for range 1000 {
		w.room = 10_000
		p.flush()
		c.flush()
		kept = max(kept, len(c.out))
	}
	if most := mostUnsent + 2*maxFrame; kept > most || kept < mostUnsent/2 {
		t.Errorf("%d bytes were kept, want at most %d", kept, most)
	}
	for _, r := range requests[4:] {
		p.end(r, outcome{class: Timeout})
	}
	for range 3000 {
		w.room = 10_000
		p.flush()
		c.flush()
	}
	got := map[uint32][]byte{}
	sent := bytes.TrimPrefix(w.written[0], preface)
	for len(sent) > 0 {
		n := payloadLength(sent)
		if id := binary.BigEndian.Uint32(sent[5:]); sent[3] == frameData {
			got[id] = append(got[id], sent[frameHead:frameHead+n]...)
		}
		sent = sent[frameHead+n:]
	}
	for i := range 4 {
		if !bytes.Equal(got[uint32(2*i+1)], body) {
			t.Errorf("stream %d: %d bytes arrived, or others than were sent", 2*i+1, len(got[uint32(2*i+1)]))
		}
	}
	if n := len(got[15]); n > 0 {
		t.Errorf("%d bytes of a request that was given up", n)
	}
	p.expire(outcome{class: Timeout})
}
