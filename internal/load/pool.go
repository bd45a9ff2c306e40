package load

// maxDialled bounds the connections of pool dial.
const maxDialled = 60_000

// A pool is the connections of one worker. It chooses one for each request and ends what takes too long. A lost connection
// is dialled again by the next request that comes to it.
type pool struct {
	job                *job
	sink               sink
	clock              func() int64
	wire               wire
	wireName, wireNote string
	routes             []route
	next               int   // of conns, to be opened
	now                int64 // of what is being handled

	conns   []*conn // by their number; wires know them by it
	spare   []*conn // retired and closed
	turn    int     // of conns
	members int     // connections that take requests or could
	frees   ring[*conn]
	nfree   int // connections in frees that are not retired
	dirty   []*conn

	dials     queue[*conn]    // connecting, in a tunnel's opening or a handshake
	timeouts  queue[*request] // sent
	refused   queue[*request] // to be tried again
	continues queue[*conn]    // waiting for 100 Continue

	opens, inFlight int
	freed           int64  // when inFlight was last seen to fall below its bound
	dialled         int    // dials that were ever begun
	streamLimit     int    // HTTP/2: the smallest that a server set; 0 if none did
	plain           []byte // of TLS, decrypted
	known           knownHead
}

func newPool(j *job, routes []route, clock func() int64, s sink) *pool {
	p := &pool{job: j, sink: s, clock: clock, routes: routes, plain: make([]byte, 64<<10)}
	for range j.connections {
		p.add()
	}
	return p
}

// add makes one more connection, which is not connected.
func (p *pool) add() *conn {
	var c *conn
	if n := len(p.spare); n > 0 {
		c, p.spare = p.spare[n-1], p.spare[:n-1]
		c.retired, c.spare = false, false
	} else {
		c = &conn{p: p, number: len(p.conns), fd: -1}
		c.dialing.of, c.continuing.of, c.slow.of = c, c, c
		p.conns = append(p.conns, c)
	}
	c.limit = p.roomOf()
	p.members++
	p.release(c)
	return c
}

// release lets c take requests, if it can take one.
func (p *pool) release(c *conn) {
	if c.inFree || c.retired || c.load >= c.limit {
		return
	}
	c.inFree = true
	p.nfree++
	if !c.listed {
		c.listed = true
		p.frees.push(c)
	}
}

// take gives a connection that can take a request; another one is added if there is none.
func (p *pool) take() *conn {
	for p.frees.size > 0 {
		c := p.frees.pop()
		c.listed = false
		if !c.inFree {
			continue
		}
		p.unlist(c)
		if c.load < c.limit {
			return c
		}
	}
	c := p.add()
	p.unlist(c)
	return c
}

// unlist takes c out of those that can take requests; its place in the ring is passed over.
func (p *pool) unlist(c *conn) {
	if c.inFree {
		c.inFree = false
		p.nfree--
	}
}

// roomOf is how many requests a connection may have before its server has said how many it takes.
func (p *pool) roomOf() int {
	if p.streamLimit > 0 {
		return min(p.job.streams, p.streamLimit)
	}
	return p.job.streams
}

// room tells whether a connection has room or may be added.
func (p *pool) room() bool { return p.nfree > 0 || p.job.dials && p.members < maxDialled }

// another gives a connection that can take a request; if there is none, one where it waits for room.
func (p *pool) another() *conn {
	if p.room() {
		return p.take()
	}
	for range p.conns {
		p.turn++
		if c := p.conns[p.turn%len(p.conns)]; !c.retired {
			return c
		}
	}
	return p.take()
}

// free tells whether a request could be taken: by a connection that has room, is not connected (the request then waits for
// the dial), or may be added.
func (p *pool) free() bool {
	return p.inFlight < p.job.inFlight && p.room()
}

// send gives a request to a connection. Its outcome comes to the sink, possibly before send returns.
func (p *pool) send(r *request) {
	p.inFlight++
	p.give(p.another(), r)
}

func (p *pool) give(c *conn, r *request) {
	c.load++
	r.conn = c
	if c.load < c.limit {
		p.release(c)
	} else {
		p.unlist(c)
	}
	switch {
	case c.state == open && c.load-len(c.waiting) <= c.limit:
		c.begin(r)
	default:
		c.waiting = append(c.waiting, r)
		if c.state == empty {
			c.dial()
		} else if c.state == open {
			p.limitWait(r)
		}
	}
}

// replace gives requests that were not written yet to other connections.
func (p *pool) replace(waiting []*request) {
	for _, r := range waiting {
		p.give(p.another(), r)
	}
}

// touch reads the clock, once for all that is handled at one time.
func (p *pool) touch() { p.now = p.clock() }

// connect dials a connection that is not connected yet, without a request; the sink hears opened. False if there is none.
func (p *pool) connect() bool {
	for _, c := range p.conns[p.next:] {
		p.next++
		if c.state == empty && !c.retired {
			c.bare = true
			c.dial()
			return true
		}
	}
	return false
}

// flush writes what the protocols left in the connections' buffers.
func (p *pool) flush() {
	for i := 0; i < len(p.dirty); i++ {
		c := p.dirty[i]
		c.dirty = false
		c.flush()
	}
	p.dirty = p.dirty[:0]
}

func (p *pool) close() {
	for _, c := range p.conns {
		c.disconnect()
	}
	p.wire.close()
}
