package load

import "fmt"

// dial connects; the waiting requests are sent after that.
func (c *conn) dial() {
	p := c.p
	now := p.now
	c.gen++
	c.state, c.began, c.fresh, c.said = connecting, now, true, ""
	c.out, c.plain = c.out[:0], c.plain[:0] // what was written when all was over
	p.dials.push(&c.dialing, now+int64(p.job.DialTimeout))
	p.opens++
	c.source = p.dialled*p.job.Workers + p.job.Worker
	p.dialled++
	if err := p.wire.connect(c); err != nil {
		c.dialFailed(dialClass(err), err.Error())
	}
}

// connected hears from the wire that the connection stands, or why it does not.
func (c *conn) connected(err error) {
	c.p.touch()
	if err != nil {
		c.dialFailed(dialClass(err), err.Error())
		return
	}
	now := c.p.now
	c.p.sink.connected(now, now-c.began)
	if c.p.job.tunnel != nil {
		c.state, c.tunnel = tunnelling, c.tunnel[:0]
		c.send(c.p.job.tunnel)
		return
	}
	c.through()
}

// through begins TLS, if it is spoken, on a connection to the target.
func (c *conn) through() {
	if c.p.job.tls == nil {
		c.speak()
		return
	}
	c.state, c.began = securing, c.p.now
	c.secure = newSecure(c)
	c.secure.handshake()
}

// speak begins the protocol.
func (c *conn) speak() {
	c.state = greeting
	c.proto = c.p.job.newProtocol(c)
	c.proto.open()
}

// established sends the requests for which the connection was dialled.
func (c *conn) established() {
	p := c.p
	p.touch()
	now := p.now
	c.dialing.leave()
	c.state, c.freed = open, now
	bare := c.bare
	c.bare = false
	c.resize()
	gen := c.gen
	if bare {
		p.sink.opened(outcome{})
	}
	if c.gen == gen {
		p.sink.freed()
	}
}

// late ends a dial that takes too long.
func (c *conn) late() {
	switch c.state {
	case securing:
		c.dialFailed(TLS, fmt.Sprintf("no handshake within %v", c.p.job.DialTimeout))
	case tunnelling:
		c.dialFailed(Connect, fmt.Sprintf("no answer to CONNECT within %v", c.p.job.DialTimeout))
	case greeting:
		c.dialFailed(Protocol, fmt.Sprintf("no HTTP/2 settings within %v", c.p.job.DialTimeout))
	default:
		c.dialFailed(Connect, fmt.Sprintf("no connection within %v", c.p.job.DialTimeout))
	}
}

// dialFailed gives the requests that wait for the dial their outcome.
func (c *conn) dialFailed(class, reason string) {
	p := c.p
	p.touch() // a handshake takes its time
	o := outcome{at: p.now, class: class, reason: reason}
	bare := c.bare
	c.bare = false
	_, waiting := c.vacate()
	if bare {
		p.sink.opened(o)
	}
	for _, r := range waiting {
		p.finish(r, o)
	}
	p.sink.freed()
}
