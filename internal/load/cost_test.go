package load

import "testing"

// An echoWire answers whatever is sent, without a kernel.
type echoWire struct {
	answer []byte
	ready  []*conn
	left   int
}

func (w *echoWire) connect(c *conn) error  { w.ready = append(w.ready, c); return nil }
func (w *echoWire) send(c *conn, b []byte) { w.ready = append(w.ready, c) }
func (w *echoWire) flush(c *conn)          { c.out = c.out[:0]; w.ready = append(w.ready, c) }
func (w *echoWire) pending(*conn) bool     { return false }
func (w *echoWire) drop(*conn)             {}
func (w *echoWire) next() int64            { return never }
func (w *echoWire) wake()                  {}
func (w *echoWire) close()                 {}
func (w *echoWire) poll(int64) bool {
	ready := w.ready
	w.ready = nil
	for _, c := range ready {
		if c.state == connecting {
			c.connected(nil)
			continue
		}
		if w.left--; w.left <= 0 {
			return true
		}
		c.arrived(w.answer)
	}
	w.ready = append(ready[:0], w.ready...)
	return true
}

// BenchmarkExchange is what a request costs without the kernel: from its due time through its answer to the books.
func BenchmarkExchange(b *testing.B) {
	j, err := newJob(Spec{Address: "127.0.0.1:1", Connections: 64, Reuse: true, Expect: Expect{Status: 200, Bytes: size(13)}})
	if err != nil {
		b.Fatal(err)
	}
	l := newLoop(j)
	l.pool = newPool(j, nil, l.clock, l)
	w := &echoWire{left: 1 << 60, answer: []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 10:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: keep-alive\r\n\r\nHello, World!")}
	l.pool.wire = w
	l.start()
	for len(w.ready) < 64 || w.ready[0].state != open {
		w.poll(0)
	}
	b.ReportAllocs()
	b.ResetTimer()
	w.left = b.N
	for w.left > 0 {
		w.poll(0)
	}
}
